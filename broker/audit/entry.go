package audit

import (
	"sync"
	"sync/atomic"
	"time"
)

// entry is one record on its way to the disk.
type entry struct {
	body  []byte // the line without number and hash, from its first member on
	done  chan error
	timer *time.Timer // the caller's deadline
	taken atomic.Bool // by the writer, or back by the caller
}

// maxKept is the longest body whose memory is used again.
const maxKept = 16 << 10

var entries = sync.Pool{New: func() any {
	return &entry{done: make(chan error, 1), timer: time.NewTimer(time.Hour)} // room for its one answer
}}

func newEntry(deadline time.Duration) *entry {
	e := entries.Get().(*entry)
	e.timer.Reset(deadline)
	e.taken.Store(false)
	return e
}

// release lets an entry be used again that the writer has answered.
func (e *entry) release() {
	e.timer.Stop()
	if cap(e.body) <= maxKept {
		entries.Put(e)
	}
}

// abandon takes an entry back. One that the writer has begun with may still
// become durable; the caller refuses all the same, which is the safe side.
func (e *entry) abandon(err error) error {
	e.timer.Stop()
	e.taken.CompareAndSwap(false, true)
	return err
}
