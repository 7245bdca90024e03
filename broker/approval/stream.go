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
	Grown   *Escalation // something about it is another: more calls like it were refused, or its review
	Settled *Resolution
	Ended   *Ending // of a settled item's call
}

// stream is one subscriber. Delivery is certain as long as the channel is
// open: a subscriber that falls behind by the backlog loses the stream, never
// a single change in the middle of it.
type stream struct {
	ch   chan Change
	once sync.Once
}

// Subscribe returns what waits now and a channel with every change from here
// on. The channel is closed when ctx ends, when the queue closes, or when the
// subscriber is more than the backlog behind; it then subscribes again.
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

// announce hands a change to every subscriber. The lock is held, and nothing
// here waits: a channel without room is closed.
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

// ended tells why a stream was closed: because there will be no more changes,
// or because its reader fell behind and should subscribe again.
func (q *Queue) ended(ctx context.Context) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed || ctx.Err() != nil
}
