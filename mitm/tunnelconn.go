package mitm

import (
	"bufio"
	"net"
	"sync"
	"time"
)

const (
	// pieceBytes is how much of a large answer goes out in one piece.
	pieceBytes = 64 << 10
	// pieceTime is how long the beginning of a piece waits for its end.
	pieceTime = 250 * time.Microsecond
)

// tunnelConn is what TLS reads from and writes to: the raw connection behind
// the buffer that may already hold its first bytes. It remembers the name that
// the client asked for.
//
// Between hold and flush it gathers what TLS writes, so that many records
// leave in one system call.
type tunnelConn struct {
	net.Conn
	r   *bufio.Reader
	sni string

	mu     sync.Mutex
	gather bool
	out    []byte      // gathered records
	timer  *time.Timer // sends them when nothing more comes
	armed  bool        // the timer runs
	err    error       // of a write that nobody waited for
}

func (c *tunnelConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// Write sends TLS records, or gathers them.
func (c *tunnelConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return 0, c.err
	case c.gather:
		c.out = append(c.out, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// hold gathers what is written from here on.
func (c *tunnelConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gather = true
}

// flush sends what was gathered, and gathers no more.
func (c *tunnelConn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send()
}

// flushSoon sends what was gathered when it is a piece, or when pieceTime has
// passed.
func (c *tunnelConn) flushSoon() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.out) >= pieceBytes:
		return c.send()
	case c.armed || len(c.out) == 0:
		return c.err
	case c.timer == nil:
		c.timer = time.AfterFunc(pieceTime, func() { _ = c.flush() })
	default:
		c.timer.Reset(pieceTime)
	}
	c.armed = true
	return c.err
}

// release sends what was gathered and gives its memory back.
func (c *tunnelConn) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.send()
	c.out = nil
	return err
}

// send writes what was gathered. The caller holds mu.
func (c *tunnelConn) send() error {
	if c.armed {
		c.timer.Stop()
	}
	c.gather, c.armed = false, false
	if c.err == nil && len(c.out) > 0 {
		_, c.err = c.Conn.Write(c.out)
		c.out = c.out[:0]
	}
	return c.err
}
