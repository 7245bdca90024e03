package broker

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
)

// A caller that waits for another caller's attempt to connect stops waiting when its own
// context ends, so a closed tab does not delay the end of the process.
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
