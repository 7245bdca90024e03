package session

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// terminal is the attachment of one user interface to an agent's terminal.
// Closing it frees the session for another attachment and leaves the agent
// running.
type terminal struct {
	program program
	output  *output
	history int64 // bytes
	release func()
	once    sync.Once
	closed  atomic.Bool // set by Close
	// suspends is told that a Ctrl-Z was kept from the program; nil: it may have it.
	suspends func()
}

func (t *terminal) CopyTo(w io.Writer) error { return t.output.copyTo(w, t.closed.Load) }

func (t *terminal) Write(p []byte) (int, error) {
	if t.closed.Load() {
		return 0, io.ErrClosedPipe
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

// tryWriter is a program that can say how much it takes without waiting.
type tryWriter interface {
	TryWrite(p []byte) (int, error)
}

// TryWrite leaves what holds a Ctrl-Z that the program must not have to Write.
func (t *terminal) TryWrite(p []byte) (int, error) {
	if t.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	program, ok := t.program.(tryWriter)
	if !ok {
		return 0, nil
	}
	if t.suspends != nil {
		if _, found := agent.WithoutSuspend(p); found {
			return 0, nil
		}
	}
	return program.TryWrite(p)
}

// History is what is still to come of the agent's former life.
func (t *terminal) History() int64 { return t.history }

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	return t.program.Resize(ctx, cols, rows)
}

func (t *terminal) Close() error {
	t.once.Do(func() {
		t.output.change(func() { t.closed.Store(true) })
		t.release()
	})
	return nil
}

// Terminal is the attachment to an agent's terminal. Close detaches and leaves the
// agent running. Write types; it blocks while the agent does not read.
type Terminal interface {
	io.WriteCloser
	// CopyTo hands everything that the agent writes to w, in order, until the
	// agent has ended, which is no error, Close is called, which is none
	// either, or w fails. An agent is held back while w is written to. It is to
	// be called once.
	CopyTo(w io.Writer) error
	// TryWrite types what the agent takes without waiting and returns how many
	// bytes that was; none, where that cannot be known.
	TryWrite(p []byte) (int, error)
	// History is how many of the bytes that CopyTo hands out first are from before
	// the agent was taken back: what they ask of a terminal was answered then.
	History() int64
	// Resize tells the agent the size of its screen.
	Resize(ctx context.Context, cols, rows int) error
}
