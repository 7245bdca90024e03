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

// agentConn is one connection of the agent, from its first byte to its last: a request
// outside TLS and, if that is a CONNECT, the tunnel. One goroutine serves it.
type agentConn struct {
	p   *Proxy
	id  uint64
	raw net.Conn
	r   *bufio.Reader // of raw

	scratch []byte // of one head at a time, to the server or to the agent
	watch   clientWatch
	guard   auditGuard
	readBy  time.Time // the deadline of reads from the client, as far as it is known
	writeBy time.Time // and of writes

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	mu      sync.Mutex
	busy    bool // a request is under way
	closing bool // no further request is read
	ended   bool
}

// scratchBytes is how much of a scratch buffer a connection keeps.
const scratchBytes = 8 << 10

func newAgentConn(p *Proxy, c net.Conn) *agentConn {
	a := &agentConn{p: p, id: p.conns.Add(1), raw: c, r: bufio.NewReaderSize(c, 16<<10)}
	a.ctx, a.cancel = context.WithCancel(p.ctx)
	return a
}

// serve runs the connection to its end. A panic ends this connection only.
func (a *agentConn) serve() {
	defer func() {
		if v := recover(); v != nil {
			a.p.log.Error("a connection failed", "conn", a.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			_ = a.audit(&Record{Conn: a.id, Phase: PhaseConnect, Decision: Failed, Reason: ReasonInternal}, nil)
		}
	}()
	defer a.watch.close()
	if g := a.outer(); g != nil {
		a.tunnel(g)
	} else {
		drain(a.raw, a.r)
	}
}

// close ends the connection at once.
func (a *agentConn) close() {
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.ended = true
		_ = a.raw.Close()
	}
}

// closeWhenIdle ends the connection as soon as no request is under way.
func (a *agentConn) closeWhenIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closing = true
	if !a.busy && !a.ended {
		a.ended = true
		a.cancel()
		_ = a.raw.Close()
	}
}

// begin marks a request as under way; false means that the proxy closes.
func (a *agentConn) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = !a.closing && !a.ended
	return a.busy
}

// end marks the request as done; false means that the connection ends.
func (a *agentConn) end() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	return !a.closing && !a.ended
}

// readHeadFrom reads a head. Its first byte must come within wait, and the rest within
// Limits.HeadTime.
func (a *agentConn) readHeadFrom(c net.Conn, r *bufio.Reader, wait time.Duration) (*head, error) {
	if r.Buffered() == 0 {
		postpone(&a.readBy, wait, c.SetReadDeadline)
		if _, err := r.Peek(1); err != nil {
			if errors.Is(err, net.ErrClosed) || isEOF(err) {
				return nil, errQuiet
			}
			return nil, err
		}
	}
	if here, _ := r.Peek(r.Buffered()); bytes.Contains(here, []byte("\r\n\r\n")) {
		return readHead(r, a.p.limits) // the whole head is buffered: no deadline is needed
	}
	_ = c.SetReadDeadline(time.Now().Add(a.p.limits.HeadTime))
	h, err := readHead(r, a.p.limits)
	a.unlimited(c)
	return h, err
}

// unlimited removes the deadline of reads.
func (a *agentConn) unlimited(c net.Conn) {
	a.readBy = time.Time{}
	_ = c.SetReadDeadline(a.readBy)
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
