package pane

import (
	"context"
	"strings"
	"sync"
	"time"
)

// The bounds of what may wait to be written to one pane, in bytes.
const (
	queueHigh    = 256 << 10 // above this, the reader of the person's terminal is held back
	QueueLimit   = 1 << 20   // above this, input is refused
	QueueReserve = 64 << 10  // beyond the limit, for the end of something already begun
	writeSize    = 32 << 10  // the most that is written at once
)

// keystrokes is one thing to write to a pane, after a pause.
type keystrokes struct {
	pause time.Duration
	data  []byte
	tail  string // the end of the echo to wait for before the next step; may be empty
	slot  int    // not 0: a reserved place whose data is still to come
}

// InputQueue is the input that waits to be written to a pane, in order. Put never blocks; it
// reports false for data that does not fit. Only one goroutine calls take.
type InputQueue struct {
	mu    sync.Mutex
	items []keystrokes
	size  int
	slots int  // the number of the last slot
	taken bool // the keystrokes taken last may not be written yet

	ready chan struct{} // capacity 1, lossy: something was put
	room  chan struct{} // capacity 1, lossy: something was taken
}

func newInputQueue() *InputQueue {
	return &InputQueue{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Put appends data; when the queue is full, it adds nothing and reports false.
func (q *InputQueue) Put(data []byte) bool { return q.add(keystrokes{data: data}, QueueLimit) }

// PutLast appends data that ends something already begun, such as the end of a paste. It
// may use QueueReserve.
func (q *InputQueue) PutLast(data []byte) bool {
	return q.add(keystrokes{data: data}, QueueLimit+QueueReserve)
}

// writeOrPut sends data at once with tryWrite, which returns how many bytes it sent, and puts
// the rest into the queue. If the queue is not empty, or the keystrokes taken from it last may
// not be written yet, it puts all data into the queue.
func (q *InputQueue) writeOrPut(data []byte, tryWrite func([]byte) int) bool {
	q.mu.Lock()
	if !q.taken && len(q.items) == 0 {
		data = data[tryWrite(data):]
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
	// Join small pieces; otherwise a slow agent would get one write for each key.
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

// take waits for the next keystrokes to write, and removes them. It reports false when ctx has
// ended.
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

// crowded reports whether the reader of the person's terminal should wait.
func (q *InputQueue) crowded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size > queueHigh
}

// String returns the waiting data, for tests and for debugging.
func (q *InputQueue) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var b strings.Builder
	for _, k := range q.items {
		b.Write(k.data)
	}
	return b.String()
}

// Discard drops all waiting data.
func (q *InputQueue) Discard() {
	q.mu.Lock()
	q.items, q.size = nil, 0
	q.mu.Unlock()
	signal(q.room)
}

// signal wakes the goroutine that waits on a lossy channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
