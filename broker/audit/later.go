package audit

import (
	"context"
	"sync"
	"time"
)

// How long a record that nobody waits for may wait for others to be written
// with, and how long until it is tried again after that failed.
const (
	laterDelay = 10 * time.Millisecond
	laterRetry = time.Second
)

// laterLimit is how many records may wait so; the caller with one more waits itself.
const laterLimit = 4096

// later holds the records that nobody waits for. None is lost: they go with the
// next write or with one of their own, stay when it fails, and are tried again.
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

// bodies are those of several lines, one behind the other.
type bodies struct {
	data []byte
	ends []int
}

func (b *bodies) add(body []byte) {
	b.data = append(b.data, body...)
	b.ends = append(b.ends, len(b.data))
}

// each calls f with one after the other.
func (b *bodies) each(f func(body []byte)) {
	from := 0
	for _, end := range b.ends {
		f(b.data[from:end])
		from = end
	}
}

// Post takes a record that nothing depends on, such as what became of a
// call, and returns at once. It is on the disk soon after, and before Close has
// returned without an error. Only when thousands wait already, because the disk
// does not take them, does it wait like Append, and fail like it.
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

// arm sees to it that the writer is woken. It is called with the lock held.
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
	default: // it is on its way
	}
}

// take hands out what waits; settle must follow.
func (q *later) take() bodies {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.writing = len(taken.ends)
	q.waiting, q.spare = bodies{q.spare.data[:0], q.spare.ends[:0]}, bodies{}
	return taken
}

// settle says what became of what was taken: what was not written is tried
// again.
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

// end hands out what waits for the last time.
func (q *later) end() bodies {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	if q.timer != nil {
		q.timer.Stop()
	}
	return q.waiting
}
