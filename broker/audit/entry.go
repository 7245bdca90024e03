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
	timer *time.Timer // the caller's deadline; stopped unless one waits
	taken atomic.Bool // by the writer, or back by the caller
}

// maxKept is the longest body whose memory is used again.
const maxKept = 16 << 10

var entries = sync.Pool{New: func() any {
	e := &entry{done: make(chan error, 1), timer: time.NewTimer(time.Hour)} // room for its one answer
	e.timer.Stop()
	return e
}}

func newEntry() *entry {
	e := entries.Get().(*entry)
	e.taken.Store(false)
	return e
}

// release lets an entry be used again that the writer has answered, or never saw.
func (e *entry) release() {
	if cap(e.body) <= maxKept {
		entries.Put(e)
	}
}

// abandon takes an entry back. One that the writer has begun with may still
// become durable; the caller refuses all the same, which is the safe side.
func (e *entry) abandon(err error) error {
	e.taken.CompareAndSwap(false, true)
	return err
}
