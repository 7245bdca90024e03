package broker

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
)

// Who waits for the engine behind somebody else, whom it does not answer, can be
// called off: a tab that is closed does not hold up the end.
func TestWaitingForTheEngineCanBeCalledOff(t *testing.T) {
	silent, err := net.Listen("unix", filepath.Join(shortTemp(t), "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it takes connections and never answers
	t.Setenv("DOCKER_HOST", "unix://"+silent.Addr().String())
	var h engineHandle
	get := func(ctx context.Context) <-chan error {
		failed := make(chan error, 1)
		go func() {
			_, err := h.get(ctx, "/nowhere")
			failed <- err
		}()
		return failed
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := get(ctx)
	conn, err := silent.Accept() // it has asked
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	closed, closing := context.WithCancel(t.Context())
	second := get(closed)
	closing()
	select {
	case err := <-second:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the one who waited: %v", err)
		}
	case err := <-first:
		t.Fatalf("the first ended before: %v", err)
	}
	if h.connected() != nil {
		t.Error("there is a client nobody connected")
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who asked: %v", err)
	}
}
