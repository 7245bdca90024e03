package registry

import (
	"context"
	"errors"
	"sync"
)

// readings are the facts that requests of one session are reading. If several requests want the
// same facts at the same time, one reads them for all.
type readings struct {
	mu    sync.Mutex
	byKey map[string]*reading
}

type reading struct {
	done  chan struct{} // closed at the end
	facts *Facts
	err   error
}

// do returns the known facts, those that another request is reading, or else the result of read.
func (r *readings) do(ctx context.Context, key string, known func() *Facts, read func() (*Facts, error)) (*Facts, error) {
	for {
		if f := known(); f != nil {
			return f, nil
		}
		r.mu.Lock()
		one := r.byKey[key]
		if one == nil {
			one = &reading{done: make(chan struct{})}
			r.byKey[key] = one
			r.mu.Unlock()
			defer func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				delete(r.byKey, key)
				close(one.done)
			}()
			one.facts, one.err = read()
			return one.facts, one.err
		}
		r.mu.Unlock()
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		var refusal *Refusal
		if one.facts != nil && one.err == nil || errors.As(one.err, &refusal) { // otherwise its client has gone
			return one.facts, one.err
		}
	}
}
