package bridge

import "sync"

// ahead is how many bytes of a program's output are read before the host has received them. A
// program that writes faster waits, as on any terminal.
const ahead = 64 << 10

// output keeps the end of what a program has written to its terminal, for every viewer.
type output struct {
	mu      sync.Mutex
	changed sync.Cond // any of the fields below
	ring    ring
	newest  *viewer // nil before the first one
	away    bool    // the host is away for long: the program does not wait for it
	free    bool    // the program has ended, and its rest is read without waiting
	ended   bool
	code    int           // the program's exit code, once it has ended
	over    chan struct{} // closed when ended is set
}

// viewer is one link on which the output is sent.
type viewer struct {
	at    uint64 // the first byte that was not sent
	begun bool   // it was told how much of the output is old
	gone  bool
}

func newOutput() *output {
	o := &output{over: make(chan struct{})}
	o.changed.L = &o.mu
	return o
}

// awaitRoom waits until more of the program's output may be read.
func (o *output) awaitRoom() {
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

// end marks the end of the output. Only the first call counts.
func (o *output) end(code int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended, o.code = true, code
		close(o.over)
		o.changed.Broadcast()
	}
}

// setAway notes whether the host is away for long.
func (o *output) setAway(away bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = away
	o.changed.Broadcast()
}

// programEnded lets the rest be read without waiting.
func (o *output) programEnded() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.free = true
	o.changed.Broadcast()
}

// addViewer adds a viewer that has received so many bytes already. From now on the program waits for
// this one only.
func (o *output) addViewer(has uint64) *viewer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.newest = &viewer{at: min(has, o.ring.end)}
	o.changed.Broadcast()
	return o.newest
}

// dropViewer makes next return for a viewer.
func (o *output) dropViewer(v *viewer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v.gone = true
	o.changed.Broadcast()
}

// piece is what is sent to a viewer next.
type piece struct {
	n            int    // bytes of output
	past         bool   // lost and follow are set
	lost, follow uint64 // bytes that are not kept any more, and old bytes that follow
	ended        bool   // nothing follows
	code         int
	gone         bool // the viewer was dropped
}

// next waits for more output, and copies it to p. The first piece for a viewer, and one before which
// bytes were lost, has past set.
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
