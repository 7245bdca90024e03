package docker

import (
	"context"
	"errors"
	"time"
)

// How long a container whose stream has ended is taken to be ending, before the
// attachment is made anew: the engine closes the stream a moment before it calls
// the container ended.
const (
	renewEvery = 50 * time.Millisecond
	endingFor  = 5 // looks
)

// current is the attachment in use.
func (ct *Container) current() *stream {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	return ct.stream
}

// renew makes the attachment anew when the engine has lost it and the agent still
// runs, as after a restart of an engine that leaves its containers alone. It waits
// for an engine that is away. It reports false when old has ended for good.
func (ct *Container) renew(old *stream) bool {
	ct.renewing.Lock()
	defer ct.renewing.Unlock()
	if ct.current() != old {
		return true
	}
	pause := time.NewTicker(renewEvery)
	defer pause.Stop()
	for looks := 0; ct.life.Err() == nil; looks++ {
		state, err := ct.client.state(ct.life, ct.id)
		switch {
		case errors.Is(err, ErrNoContainer), err == nil && !state.Running:
			return false
		case err == nil && looks >= endingFor:
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

// replace puts a new attachment in the place of the lost one, and has the agent
// draw anew: what it wrote meanwhile is not repeated.
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
		// An agent that ends just now has no size any more; its reader learns of it.
		_ = ct.resize(ctx, cols-1, rows)
		_ = ct.resize(ctx, cols, rows)
	}
	return true
}
