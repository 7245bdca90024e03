package mitm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// link is one connection of the agent, from its first byte to its last: a request
// outside TLS and, if that is a CONNECT, the tunnel. One goroutine serves it.
type link struct {
	p   *Proxy
	id  uint64
	raw net.Conn
	r   *bufio.Reader // of raw

	scratch []byte // of one head at a time, to the server or to the agent
	watch   clientWatch
	guard   auditGuard
	readBy  time.Time // the deadline of reads from the client, as far as it is known
	writeBy time.Time // and of writes

	ctx    context.Context // ends with the link
	cancel context.CancelFunc

	mu      sync.Mutex
	busy    bool // a request is under way
	closing bool // no further request is read
	ended   bool
}

// scratchBytes is how much of a scratch buffer a connection keeps.
const scratchBytes = 8 << 10

func newLink(p *Proxy, c net.Conn) *link {
	l := &link{p: p, id: p.conns.Add(1), raw: c, r: bufio.NewReaderSize(c, 16<<10)}
	l.ctx, l.cancel = context.WithCancel(p.ctx)
	return l
}

// serve runs the connection to its end. A panic ends this connection only.
func (l *link) serve() {
	defer func() {
		if v := recover(); v != nil {
			l.p.log.Error("a connection failed", "conn", l.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			_ = l.audit(&Record{Conn: l.id, Phase: PhaseConnect, Decision: Failed, Reason: ReasonInternal}, nil)
		}
	}()
	defer l.watch.close()
	if g := l.outer(); g != nil {
		l.tunnel(g)
	} else {
		drain(l.raw, l.r)
	}
}

// close ends the connection at once.
func (l *link) close() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended = true
		_ = l.raw.Close()
	}
}

// closeWhenIdle ends the connection as soon as no request is under way.
func (l *link) closeWhenIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	if !l.busy && !l.ended {
		l.ended = true
		l.cancel()
		_ = l.raw.Close()
	}
}

// begin marks a request as under way; false means that the proxy closes.
func (l *link) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = !l.closing && !l.ended
	return l.busy
}

// end marks the request as done; false means that the connection ends.
func (l *link) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	return !l.closing && !l.ended
}

// readHeadFrom reads a head. Its first byte must come within wait, and the rest within
// Limits.HeadTime.
func (l *link) readHeadFrom(c net.Conn, r *bufio.Reader, wait time.Duration) (*head, error) {
	if r.Buffered() == 0 {
		postpone(&l.readBy, wait, c.SetReadDeadline)
		if _, err := r.Peek(1); err != nil {
			if errors.Is(err, net.ErrClosed) || isEOF(err) {
				return nil, errQuiet
			}
			return nil, err
		}
	}
	if here, _ := r.Peek(r.Buffered()); bytes.Contains(here, []byte("\r\n\r\n")) {
		return readHead(r, l.p.limits) // the whole head is buffered: no deadline is needed
	}
	_ = c.SetReadDeadline(time.Now().Add(l.p.limits.HeadTime))
	h, err := readHead(r, l.p.limits)
	l.unlimited(c)
	return h, err
}

// unlimited removes the deadline of reads.
func (l *link) unlimited(c net.Conn) {
	l.readBy = time.Time{}
	_ = c.SetReadDeadline(l.readBy)
}

// postpone makes sure that a deadline is at least d away, and at most a quarter more.
// Setting a deadline takes time, so postpone sets it an eighth later than d and does not
// set it again until it is nearer than d.
func postpone(deadline *time.Time, d time.Duration, set func(time.Time) error) {
	now := time.Now()
	if deadline.Before(now.Add(d)) || deadline.After(now.Add(d+d/4)) {
		*deadline = now.Add(d + d/8)
		_ = set(*deadline)
	}
}

// headDenial turns an error of reading a head into a refusal.
func headDenial(err error) *denial {
	var d *denial
	switch {
	case errors.As(err, &d):
		return d
	case isTimeout(err):
		return failure(408, ReasonHeadTimeout, "the head of the request did not arrive in time")
	default:
		return failure(0, ReasonTruncated, "the connection ended inside the head of a request")
	}
}
