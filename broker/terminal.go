package broker

import (
	"context"
	"io"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// terminal is the attachment of one user interface to an agent's terminal.
// Closing it frees the session for another attachment and leaves the agent
// running.
type terminal struct {
	program program
	output  *output
	release func()
	once    sync.Once
	gone    chan struct{} // closed by Close
	// suspends is told that a Ctrl-Z was kept from the program; nil: it may have it.
	suspends func()
}

func (t *terminal) Read(p []byte) (int, error) { return t.output.read(p, t.gone) }

func (t *terminal) Write(p []byte) (int, error) {
	select {
	case <-t.gone:
		return 0, io.ErrClosedPipe
	default:
	}
	if t.suspends == nil {
		return t.program.Write(p)
	}
	rest, found := agent.WithoutSuspend(p)
	if found {
		t.suspends()
	}
	if len(rest) > 0 {
		if _, err := t.program.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	return t.program.Resize(ctx, cols, rows)
}

func (t *terminal) Close() error {
	t.once.Do(func() {
		close(t.gone)
		t.release()
	})
	return nil
}
