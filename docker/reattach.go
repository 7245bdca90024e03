package docker

import (
	"context"
	"errors"
	"time"
)

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
			if st, err := ct.client.attach(ct.life, ct.id, ct.tty, ct.tty); err == nil {
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
