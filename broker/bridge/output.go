package bridge

import "sync"

// ahead is how many bytes of a program's output may be read that the host was not given yet.
// A program that writes faster waits, as on any terminal.
const ahead = 64 << 10

// output is what a program has written on its terminal: the end of it, kept for whoever
// comes to see it.
type output struct {
	mu      sync.Mutex
	changed sync.Cond // any of the below
	ring    ring
	newest  *viewer // nil before the first one
	away    bool    // nobody came for long: the program is not held up
	free    bool    // the program has ended, and what is left is read
	ended   bool
	code    int           // the program's exit code, once it has ended
	over    chan struct{} // closed when ended is set
}

// viewer is one link that is given the output.
type viewer struct {
	at    uint64
	begun bool // it knows what is from before
	gone  bool
}

func newOutput() *output {
	o := &output{over: make(chan struct{})}
	o.changed.L = &o.mu
	return o
}

// room waits until more may be read of the program, or it has ended.
func (o *output) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.away && !o.free {
		given := uint64(0)
		if o.newest != nil {
			given = o.newest.at
		}
		if o.ring.end-given < ahead {
			return
		}
		o.changed.Wait()
	}
}

func (o *output) put(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ring.put(p)
	o.changed.Broadcast()
}

// end says that no output follows. Only the first call counts.
func (o *output) end(code int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended, o.code = true, code
		close(o.over)
		o.changed.Broadcast()
	}
}

// leave says whether nobody has come for long.
func (o *output) leave(away bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = away
	o.changed.Broadcast()
}

// release lets the rest be read after the program has ended.
func (o *output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.free = true
	o.changed.Broadcast()
}

// view adds a viewer that has so many bytes already. From now on the program waits for it, and
// for no older one.
func (o *output) view(has uint64) *viewer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.newest = &viewer{at: min(has, o.ring.end)}
	o.changed.Broadcast()
	return o.newest
}

// forget lets next return for a viewer.
func (o *output) forget(v *viewer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v.gone = true
	o.changed.Broadcast()
}

// piece is the next of what a viewer is to know.
type piece struct {
	n            int // bytes
	past         bool
	lost, follow uint64 // with past: bytes that are not kept any more, and bytes from before
	ended        bool   // nothing follows
	code         int
	gone         bool // the viewer was forgotten
}

// next waits for more, and copies it to p. The first piece for a viewer, and one before which
// bytes were lost, says so.
func (o *output) next(v *viewer, p []byte) (is piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for v.begun && v.at == o.ring.end && !o.ended && !v.gone {
		o.changed.Wait()
	}
	if v.gone {
		return piece{gone: true}
	}
	if !v.begun || v.at < o.ring.start {
		is.past, is.lost, is.follow = true, max(o.ring.start, v.at)-v.at, o.ring.end-max(o.ring.start, v.at)
		v.begun, v.at = true, v.at+is.lost
	}
	is.n = o.ring.read(p, v.at)
	v.at += uint64(is.n)
	is.ended, is.code = o.ended && v.at == o.ring.end, o.code
	o.changed.Broadcast()
	return is
}
