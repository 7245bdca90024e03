package pane

import (
	"context"
	"strings"
	"sync"
	"time"
)

// The bounds of what may wait to be written to one pane, in bytes.
const (
	queueHigh    = 256 << 10 // above it the source of a paste is held back
	QueueLimit   = 1 << 20   // above it input is refused
	QueueReserve = 64 << 10  // beyond the limit, for what must not be cut off
	writeSize    = 32 << 10  // the most that goes out in one write
)

// keystrokes is one thing to write to a pane, after a pause.
type keystrokes struct {
	pause time.Duration
	data  []byte
	tail  string // its end, as the agent will show it before the next step; may be empty
	slot  int    // kept for something that is still to come, when not 0
}

// InputQueue holds what waits to be written to a pane, in order. Putting never
// blocks: it refuses what does not fit, and says so. One goroutine takes.
type InputQueue struct {
	mu    sync.Mutex
	items []keystrokes
	size  int
	slots int  // the number of the last slot
	taken bool // what was taken last may still be on its way

	ready chan struct{} // capacity 1, lossy: something was put
	room  chan struct{} // capacity 1, lossy: something was taken
}

func newInputQueue() *InputQueue {
	return &InputQueue{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Put appends data; it reports false and takes nothing when the queue is full.
func (q *InputQueue) Put(data []byte) bool { return q.add(keystrokes{data: data}, QueueLimit) }

// PutLast appends data that ends something already begun, such as the end of
// a paste. It may use the reserve.
func (q *InputQueue) PutLast(data []byte) bool {
	return q.add(keystrokes{data: data}, QueueLimit+QueueReserve)
}

// pass has data sent at once by try, which says how much of it was, and puts what
// is left. While anything waits or is on its way it is put behind that.
func (q *InputQueue) pass(data []byte, try func([]byte) int) bool {
	q.mu.Lock()
	if !q.taken && len(q.items) == 0 {
		data = data[try(data):]
	}
	q.mu.Unlock()
	return q.Put(data)
}

func (q *InputQueue) add(k keystrokes, limit int) bool {
	if len(k.data) == 0 {
		return true
	}
	q.mu.Lock()
	if q.size+len(k.data) > limit {
		q.mu.Unlock()
		return false
	}
	// Small pieces are joined, or a slow reader would be sent one write a key.
	if n := len(q.items); n > 0 && k.pause == 0 && len(q.items[n-1].data)+len(k.data) <= writeSize {
		last := &q.items[n-1]
		if last.pause == 0 && last.slot == 0 && last.tail == "" {
			last.data = append(last.data, k.data...)
			q.size += len(k.data)
			q.mu.Unlock()
			signal(q.ready)
			return true
		}
	}
	k.data = append([]byte(nil), k.data...)
	q.items = append(q.items, k)
	q.size += len(k.data)
	q.mu.Unlock()
	signal(q.ready)
	return true
}

// take waits for the next thing to write. It reports false when ctx has ended.
func (q *InputQueue) take(ctx context.Context) (keystrokes, bool) {
	for {
		q.mu.Lock()
		q.taken = len(q.items) > 0 && q.items[0].slot == 0
		if q.taken {
			k := q.items[0]
			if len(k.data) > writeSize {
				q.items[0] = keystrokes{data: k.data[writeSize:], tail: k.tail}
				k.data, k.tail = k.data[:writeSize], ""
			} else {
				q.items[0] = keystrokes{}
				q.items = q.items[1:]
			}
			q.size -= len(k.data)
			q.mu.Unlock()
			signal(q.room)
			return k, true
		}
		if len(q.items) == 0 {
			q.items = nil
		}
		q.mu.Unlock()
		select {
		case <-q.ready:
		case <-ctx.Done():
			return keystrokes{}, false
		}
	}
}

// crowded reports whether a source that can wait should wait.
func (q *InputQueue) crowded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size > queueHigh
}

// String is what waits, for tests and for reading.
func (q *InputQueue) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var b strings.Builder
	for _, k := range q.items {
		b.Write(k.data)
	}
	return b.String()
}

// Discard drops everything that waits.
func (q *InputQueue) Discard() {
	q.mu.Lock()
	q.items, q.size = nil, 0
	q.mu.Unlock()
	signal(q.room)
}

// signal wakes the one who waits on a lossy channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
