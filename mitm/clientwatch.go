package mitm

import (
	"bufio"
	"crypto/tls"
	"time"
)

// watchAfter is how long a request may take before its client is watched: most
// answers come sooner, and a client that goes meanwhile is seen by writing.
const watchAfter = 5 * time.Millisecond

// clientWatch ends a link when its client goes away while an answer is awaited.
// It serves one request after the other, so that only those that take time cost
// a goroutine.
type clientWatch struct {
	timer   *time.Timer
	t       *tls.Conn
	r       *bufio.Reader // of t
	gone    func()
	done    chan struct{} // must-deliver, one result for each time that the timer ran out
	running bool
}

// start watches the client of a request until stop. From watchAfter on nobody
// else may read from it.
func (w *clientWatch) start(x *exchange) {
	w.running = true
	if w.timer != nil {
		w.timer.Reset(watchAfter)
		return
	}
	w.t, w.r, w.gone, w.done = x.t, x.r, x.l.cancel, make(chan struct{}, 1)
	w.timer = time.AfterFunc(watchAfter, w.look)
}

func (w *clientWatch) look() {
	if _, err := w.r.Peek(1); err != nil && !isTimeout(err) {
		w.gone()
	}
	w.done <- struct{}{}
}

// stop ends the watch and waits for its end. It may be called more than once.
func (w *clientWatch) stop() {
	if !w.running {
		return
	}
	w.running = false
	if w.timer.Stop() {
		return
	}
	_ = w.t.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	<-w.done
	_ = w.t.SetReadDeadline(time.Time{})
}
