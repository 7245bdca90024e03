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
	closed  atomic.Bool          // set by Close
	sized   func(cols, rows int) // is called with each new size; nil: nobody wants to know
	// suspends is called when a Ctrl-Z was not passed on to the program; nil: the program
	// gets every Ctrl-Z.
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
		if n, err := t.program.Write(rest); err != nil {
			if found {
				n = 0 // the caller cannot know which bytes are left
			}
			return n, err
		}
	}
	return len(p), nil
}

// writeHolder is a program whose writes can be made to return.
type writeHolder interface {
	HoldWrites(hold bool)
}

// tryWriter is a program that can take input without blocking.
type tryWriter interface {
	TryWrite(p []byte) (int, error)
}

// TryWrite takes nothing if p contains a Ctrl-Z that the program must not get. Write
// handles that.
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

// History returns how many of the first bytes are from before the agent was taken back.
func (t *terminal) History() int64 { return t.history }

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	err := t.program.Resize(ctx, cols, rows)
	if err == nil && t.sized != nil {
		t.sized(cols, rows)
	}
	return err
}

func (t *terminal) Close() error {
	t.once.Do(func() {
		t.output.change(func() { t.closed.Store(true) })
		if program, ok := t.program.(writeHolder); ok {
			program.HoldWrites(true) // a write that waits for the agent returns
		}
		t.release()
	})
	return nil
}

// FormerSize returns the size of the terminal before the agent was taken back.
func (t *terminal) FormerSize() (cols, rows int) {
	if p, ok := t.program.(interface{ FormerSize() (cols, rows int) }); ok {
		return p.FormerSize()
	}
	return 0, 0
}

// Terminal is an attachment to an agent's terminal. Write types, and blocks while the
// agent does not read. Close detaches and leaves the agent running; a Write that blocks returns
// how much was written.
type Terminal interface {
	io.WriteCloser
	// CopyTo copies everything that the agent writes to w, in order. It returns nil
	// when the agent has ended or Close is called, and an error when w fails. The
	// agent blocks while a write to w does. CopyTo may be called only once.
	CopyTo(w io.Writer) error
	// TryWrite types as much as the agent takes without waiting, and returns how many
	// bytes that was. It types nothing if it cannot know how much the agent takes.
	TryWrite(p []byte) (int, error)
	// History returns how many of the first bytes of CopyTo are from before the agent
	// was taken back. The terminal queries in them were answered then and must not be
	// answered again.
	History() int64
	// FormerSize returns the size of the agent's screen before the agent was taken back from a
	// process that was killed; 0: it was not, or nobody knows.
	FormerSize() (cols, rows int)
	// Resize tells the agent the size of its screen.
	Resize(ctx context.Context, cols, rows int) error
}
