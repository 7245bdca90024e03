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

// maxKept is the longest body whose memory is reused.
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

// release makes an entry reusable that the writer has answered or never got.
func (e *entry) release() {
	if cap(e.body) <= maxKept {
		entries.Put(e)
	}
}

// abandon takes an entry back. If the writer has already begun with it, the record may
// still become durable; the caller refuses the call anyway, which is safe.
func (e *entry) abandon(err error) error {
	e.taken.CompareAndSwap(false, true)
	return err
}
