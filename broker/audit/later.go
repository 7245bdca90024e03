package audit

import (
	"context"
	"sync"
	"time"
)

// How long a posted record may wait so that it is written together with others, and how
// long until a failed write is tried again.
const (
	laterDelay = 10 * time.Millisecond
	laterRetry = time.Second
)

// laterLimit is how many posted records may wait. Beyond it, Post waits like Append.
const laterLimit = 4096

// later holds the posted records. None is lost: they are part of the next write or get one
// of their own, and are tried again when it fails.
type later struct {
	due chan struct{} // wakes the writer; one signal stands for all

	mu      sync.Mutex
	waiting bodies
	writing int    // how many were taken
	spare   bodies // memory of what was written
	timer   *time.Timer
	armed   bool
	stopped bool
}

// bodies are the bodies of several lines in one slice.
type bodies struct {
	data []byte
	ends []int
}

func (b *bodies) add(body []byte) {
	b.data = append(b.data, body...)
	b.ends = append(b.ends, len(b.data))
}

// each calls f with one body after the other.
func (b *bodies) each(f func(body []byte)) {
	from := 0
	for _, end := range b.ends {
		f(b.data[from:end])
		from = end
	}
}

// Post queues a record that nothing depends on, such as the end of a call, and returns at once. The
// record is on the disk soon after, and before Close returns without an error. When thousands of
// records wait because the disk cannot be written, Post waits and fails like Append.
func (l *Log) Post(ctx context.Context, r Record) error {
	e, err := l.newEntry(&r)
	if err != nil {
		return err
	}
	if l.later.add(e.body) {
		e.release()
		return nil
	}
	return l.await(ctx, e)
}

// add reports false when there is no room, or the log is closed.
func (q *later) add(body []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting.ends)+q.writing >= laterLimit || q.stopped {
		return false
	}
	q.waiting.add(body)
	if len(q.waiting.ends) == batchLimit {
		q.signal()
	}
	q.arm(laterDelay)
	return true
}

// arm starts the timer that wakes the writer. The caller holds the lock.
func (q *later) arm(d time.Duration) {
	switch {
	case q.armed || q.stopped:
		return
	case q.timer == nil:
		q.timer = time.AfterFunc(d, q.fire)
	default:
		q.timer.Reset(d)
	}
	q.armed = true
}

func (q *later) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = false
	if len(q.waiting.ends) > 0 {
		q.signal()
	}
}

func (q *later) signal() {
	select {
	case q.due <- struct{}{}:
	default: // a signal is pending
	}
}

// take returns the waiting records. The caller must call settle.
func (q *later) take() bodies {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.writing = len(taken.ends)
	q.waiting, q.spare = bodies{q.spare.data[:0], q.spare.ends[:0]}, bodies{}
	return taken
}

// settle ends a take. Records that were not written are tried again.
func (q *later) settle(taken bodies, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = 0
	if err != nil && len(taken.ends) > 0 {
		q.waiting.each(taken.add)
		q.waiting = taken
		q.arm(laterRetry)
		return
	}
	if cap(taken.data) <= bufferKept {
		q.spare = taken
	}
}

// end returns the waiting records for the last time.
func (q *later) end() bodies {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	if q.timer != nil {
		q.timer.Stop()
	}
	return q.waiting
}
