package audit

import (
	"sync"
	"sync/atomic"
	"time"
)

// entry is one record on its way to the disk.
type entry struct {
	body   []byte     // the line without number and hash, from its first member on
	done   chan error // has room for the one answer
	timer  *time.Timer
	waited bool        // somebody waits for done
	taken  atomic.Bool // by the writer, or back by the caller
}

// entries are reused: the writer gives back those that nobody waits for, and a
// caller that of which it got the answer. An entry that was taken back is lost.
var entries = sync.Pool{New: func() any { return &entry{body: make([]byte, 0, 1<<10), done: make(chan error, 1)} }}

func newEntry() *entry {
	e := entries.Get().(*entry)
	if cap(e.body) > maxArguments {
		e.body = nil
	}
	e.body, e.waited = e.body[:0], false
	e.taken.Store(false)
	return e
}

// wait prepares for waiting until a deadline.
func (e *entry) wait(deadline time.Duration) {
	e.waited = true
	if e.timer == nil {
		e.timer = time.NewTimer(deadline)
	} else {
		e.timer.Reset(deadline)
	}
}
