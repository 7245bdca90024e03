package approval

import (
	"context"
	"sync"
)

// backlog is how many changes may wait for a slow subscriber.
const backlog = 256

// Change is one thing that happened to the queue; exactly one member is set.
type Change struct {
	Asked   *Escalation
	Grown   *Escalation // the item has changed: more calls like it were refused, its review, its caller, its time, or half of that is over
	Settled *Resolution
	Ended   *Ending // of a settled item's call
}

// stream is one subscriber. No change is lost while its channel is open: a subscriber that
// falls behind by the backlog loses the whole stream.
type stream struct {
	ch   chan Change
	once sync.Once
}

// Subscribe returns the waiting items and a channel with every later change. The channel is
// closed when ctx ends, when the queue closes, or when the subscriber falls behind by more
// than the backlog and has to subscribe again.
func (q *Queue) Subscribe(ctx context.Context) ([]Escalation, <-chan Change) {
	s := &stream{ch: make(chan Change, backlog)}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		close(s.ch)
		return nil, s.ch
	}
	q.streams[s] = struct{}{}
	waiting := q.pendingLocked()
	q.mu.Unlock()
	context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.drop(s)
	})
	return waiting, s.ch
}

// announce sends a change to every subscriber. The caller holds the lock. announce never
// waits: it closes a channel that is full.
func (q *Queue) announce(c Change) {
	for s := range q.streams {
		select {
		case s.ch <- c:
		default:
			q.drop(s)
		}
	}
}

func (q *Queue) drop(s *stream) {
	delete(q.streams, s)
	s.once.Do(func() { close(s.ch) })
}

// ended reports whether a stream was closed because no more changes will come. Otherwise
// its reader fell behind and should subscribe again.
func (q *Queue) ended(ctx context.Context) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed || ctx.Err() != nil
}
