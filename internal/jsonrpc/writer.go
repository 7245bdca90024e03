package jsonrpc

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// writeLimit is how long a write to a client may take. The deadline is not moved for each
// write, so a write has at least half of this time.
const writeLimit = 30 * time.Second

// Writer writes whole lines. Lines that are ready at the same time share one write: a
// caller that finds no write under way also writes the lines that arrive meanwhile.
type Writer struct {
	to       io.Writer
	deadline func(time.Time) error // nil when the writer has none
	broken   func(error)           // called with the first error; may be nil

	mu      sync.Mutex
	room    sync.Cond // signalled when a write has ended
	lines   []byte    // waiting lines
	writing bool
	failed  error
	spare   []byte    // the buffer of the last write, for reuse
	until   time.Time // the current deadline
}

// maxWaiting is how many bytes may wait for a write that is under way.
const maxWaiting = 256 << 10

// NewWriter returns a Writer to to. deadline, if not nil, sets the deadline of the writes.
// broken, if not nil, is called with the first error.
func NewWriter(to io.Writer, deadline func(time.Time) error, broken func(error)) *Writer {
	w := &Writer{to: to, deadline: deadline, broken: broken}
	w.room.L = &w.mu
	return w
}

// Send sends one message. If a write is under way, it may leave the message to the goroutine that
// writes, and return. After an error every further message fails.
func (w *Writer) Send(msg []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && len(w.lines)+len(msg) > maxWaiting && w.failed == nil {
		w.room.Wait()
	}
	if w.failed != nil {
		return w.failed
	}
	w.lines = append(append(w.lines, msg...), '\n')
	if w.writing {
		return nil
	}
	w.writing = true
	w.mu.Unlock()
	runtime.Gosched() // lets other callers add their lines to this write
	w.mu.Lock()
	for len(w.lines) > 0 && w.failed == nil {
		w.flush()
	}
	w.writing = false
	w.room.Broadcast()
	err := w.failed
	if err != nil && w.broken != nil {
		w.mu.Unlock()
		w.broken(err)
		w.mu.Lock()
	}
	return err
}

// Settle waits until no write is under way and no line waits.
func (w *Writer) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.room.Wait()
	}
}

// flush writes the waiting lines. The caller holds the lock, which flush releases during
// each write.
func (w *Writer) flush() {
	lines := w.lines
	w.lines, w.spare = w.spare[:0], nil
	w.extend()
	w.mu.Unlock()
	_, err := w.to.Write(lines)
	w.mu.Lock()
	if err != nil {
		w.failed = fmt.Errorf("write message: %w", err)
	}
	if cap(lines) <= maxWaiting {
		w.spare = lines[:0]
	}
	w.room.Broadcast()
}

// extend moves the deadline if less than half of writeLimit is left. Moving it for each write would
// cost as much as a short write.
func (w *Writer) extend() {
	if w.deadline == nil {
		return
	}
	if now := time.Now(); w.until.Sub(now) < writeLimit/2 {
		w.until = now.Add(writeLimit)
		_ = w.deadline(w.until)
	}
}
