package broker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// Shutdown returns at its deadline even if some work does not end.
func TestShutdownEndsWithItsContext(t *testing.T) {
	b, err := New(Config{Home: t.TempDir(), Agents: agent.Builtin(), DefaultAgent: "shell", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	stuck := make(chan struct{})
	b.work.Go(func() { <-stuck })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(stuck)
	if err := b.Shutdown(t.Context()); err != nil {
		t.Errorf("once it has ended: %v", err)
	}
}
