package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Container is a running container and the attachment to its terminal. One goroutine
// may read while another writes; all other methods may be called at any time.
type Container struct {
	*Handle
	life   context.Context // ends with Close
	detach context.CancelFunc

	renewing sync.Mutex // held by renew, so that one goroutine at a time attaches again

	mu         sync.Mutex
	stream     *stream
	cols, rows int // the last size set by Resize; 0 before the first
}

func newContainer(c *Client, id string, st *stream) *Container {
	ct := &Container{Handle: &Handle{client: c, id: id}, stream: st}
	ct.life, ct.detach = context.WithCancel(context.Background())
	return ct
}

// Read returns what the agent wrote. io.EOF means that the agent has ended. When the
// engine stops, Read waits until it is back. After Close it fails.
func (ct *Container) Read(p []byte) (int, error) {
	for {
		st := ct.current()
		n, err := st.Read(p)
		if n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !ct.renew(st) {
			return n, err
		}
	}
}

// Write passes all bytes to the agent, unchanged. When the engine stops, Write waits
// until it is back.
func (ct *Container) Write(p []byte) (int, error) {
	for sent := 0; ; {
		st := ct.current()
		n, err := st.Write(p[sent:])
		sent += n
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !ct.renew(st) {
			return sent, err
		}
	}
}

// TryWrite writes as many bytes as the engine takes without blocking and returns their
// number. It writes none over a connection that does not support this.
func (ct *Container) TryWrite(p []byte) (int, error) { return ct.current().TryWrite(p) }

// Close detaches; the agent continues to run. It may be called more than once.
func (ct *Container) Close() error {
	ct.mu.Lock()
	ct.detach()
	st := ct.stream
	ct.mu.Unlock()
	return st.Close()
}

// Remove detaches and then does what Handle.Remove does.
func (ct *Container) Remove(ctx context.Context) error {
	_ = ct.Close()
	return ct.Handle.Remove(ctx)
}

// Resize sets the size of the terminal. It fails with ErrNotRunning when the
// agent has ended.
func (ct *Container) Resize(ctx context.Context, cols, rows int) error {
	if cols < 1 || rows < 1 || cols > 65535 || rows > 65535 {
		return fault.Wrap("resize terminal", because(ErrSpec, "%d×%d is not the size of a terminal", cols, rows), "")
	}
	ct.mu.Lock()
	ct.cols, ct.rows = cols, rows
	ct.mu.Unlock()
	return fault.Wrap("resize terminal", ct.resize(ctx, cols, rows), "")
}

func (ct *Container) resize(ctx context.Context, cols, rows int) error {
	// The library's order is height, width.
	err := ct.client.bound(ctx).ResizeContainerTTY(ct.id, rows, cols)
	switch status(err) {
	case http.StatusNotFound, http.StatusConflict:
		return fmt.Errorf("%w: %w", ErrNotRunning, translate(err))
	}
	return translate(err)
}

// resizeRetrying sets the size right after the start. It retries while the container runs, because
// some engines do not know the process yet. It fails with ErrNotRunning when the container has ended,
// whatever the engine said about that.
func (ct *Container) resizeRetrying(ctx context.Context, cols, rows int) error {
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	var err error
	for range 200 {
		if err = ct.resize(ctx, cols, rows); err == nil {
			return nil
		}
		state, serr := ct.client.state(ctx, ct.id)
		if serr != nil {
			return serr
		}
		if !state.Running {
			return ErrNotRunning
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("resize the terminal: %w", err)
}

// Attach connects again to the terminal of a running container. Output that the agent
// wrote while nobody was attached is lost; a change of the size makes it redraw.
func (c *Client) Attach(ctx context.Context, id string) (*Container, error) {
	const op = "attach to container"
	found, err := c.running(ctx, id)
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	st, err := c.attach(ctx, found.ID)
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	return newContainer(c, found.ID, st), nil
}

// The engine closes the stream of an ended container shortly before it reports the
// container as ended. So renew asks for the state endingChecks times, every
// renewEvery, before it attaches again.
const (
	renewEvery   = 50 * time.Millisecond
	endingChecks = 5
)

// current returns the attachment in use.
func (ct *Container) current() *stream {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	return ct.stream
}

// renew attaches again when the engine has lost the attachment old and the agent still
// runs, as after a restart of an engine that keeps its containers running. It waits for
// an engine that does not answer. It returns false when the container has ended or
// Close was called.
func (ct *Container) renew(old *stream) bool {
	ct.renewing.Lock()
	defer ct.renewing.Unlock()
	if ct.current() != old {
		return true
	}
	pause := time.NewTicker(renewEvery)
	defer pause.Stop()
	for checks := 0; ct.life.Err() == nil; checks++ {
		state, err := ct.client.state(ct.life, ct.id)
		switch {
		case errors.Is(err, ErrNoContainer), err == nil && !state.Running:
			return false
		case err == nil && checks >= endingChecks:
			if st, err := ct.client.attach(ct.life, ct.id); err == nil {
				return ct.replace(st)
			}
		}
		select {
		case <-pause.C:
		case <-ct.life.Done():
		}
	}
	return false
}

// replace installs a new attachment for the lost one. It changes the size twice to make
// the agent redraw, because output written meanwhile is lost. It returns false after
// Close.
func (ct *Container) replace(st *stream) bool {
	ct.mu.Lock()
	closed := ct.life.Err() != nil
	if !closed {
		ct.stream = st
	}
	cols, rows := ct.cols, ct.rows
	ct.mu.Unlock()
	if closed {
		_ = st.Close()
		return false
	}
	if cols > 1 {
		ctx, cancel := context.WithTimeout(ct.life, pingLimit)
		defer cancel()
		// Resizing fails if the agent has just ended; Read reports that.
		_ = ct.resize(ctx, cols-1, rows)
		_ = ct.resize(ctx, cols, rows)
	}
	return true
}
