package mitm

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// watchAfter is how long a request may take before its client is watched. Most answers
// come sooner, and then writing the answer shows whether the client has gone.
const watchAfter = 5 * time.Millisecond

// clientWatch ends a connection when its client closes it while an answer is
// pending. It serves one request after the other with one timer, which is not reset for
// requests that are answered soon.
type clientWatch struct {
	agent *agentConn
	c     net.Conn
	r     *bufio.Reader // of c

	mu      sync.Mutex
	timer   *time.Timer
	armed   bool          // the timer runs
	from    time.Time     // when the watch of the current request begins; zero without a request
	looking chan struct{} // closed when look has stopped reading; nil while it does not read
}

// start watches the client of a request until stop. From watchAfter on, no one else may
// read from the client.
func (w *clientWatch) start(a *agentConn, c net.Conn, r *bufio.Reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from = time.Now().Add(watchAfter)
	switch {
	case w.armed:
		return
	case w.timer == nil:
		w.agent, w.c, w.r = a, c, r
		w.timer = time.AfterFunc(watchAfter, w.look)
	default:
		w.timer.Reset(watchAfter)
	}
	w.armed = true
}

// look reads from the client if the current request has taken long enough.
func (w *clientWatch) look() {
	w.mu.Lock()
	wait := time.Until(w.from)
	switch {
	case w.from.IsZero():
		w.armed = false
	case wait > 0:
		w.timer.Reset(wait)
	default:
		w.armed = false
		w.looking = make(chan struct{})
		defer close(w.looking)
		_ = w.c.SetReadDeadline(time.Time{}) // the deadline for the next request may still be set
		w.mu.Unlock()
		if _, err := w.r.Peek(1); err != nil && !isTimeout(err) {
			w.agent.cancel()
		}
		return
	}
	w.mu.Unlock()
}

// stop ends the watch and waits for its end. It may be called more than once.
func (w *clientWatch) stop() {
	w.mu.Lock()
	w.from = time.Time{}
	looking := w.looking
	w.looking = nil
	w.mu.Unlock()
	if looking == nil {
		return
	}
	_ = w.c.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	<-looking
	w.agent.unlimited(w.c)
}

// close stops the timer of a connection that ends.
func (w *clientWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}
