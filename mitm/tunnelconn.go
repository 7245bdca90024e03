package mitm

import (
	"bufio"
	"net"
	"sync"
	"time"
)

const (
	// pieceBytes is how many bytes of a large answer are written at once.
	pieceBytes = 64 << 10
	// pieceTime is how long gathered bytes wait until they fill a piece.
	pieceTime = 250 * time.Microsecond
)

// tunnelConn is the connection that TLS reads from and writes to: the raw connection with
// the buffer that may already hold its first bytes. It records the server name that the
// client asked for.
//
// Between hold and flush it gathers what TLS writes, so that many records are written in
// one system call.
type tunnelConn struct {
	net.Conn
	r   *bufio.Reader
	sni string

	mu     sync.Mutex
	gather bool
	out    []byte      // gathered records
	timer  *time.Timer // sends out after pieceTime
	armed  bool        // the timer runs
	err    error       // of an earlier write, for the next one to return
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

// hold starts gathering what is written.
func (c *tunnelConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gather = true
}

// flush sends the gathered bytes and stops gathering.
func (c *tunnelConn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send()
}

// flushSoon sends the gathered bytes if they fill a piece, otherwise after pieceTime.
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

// release sends the gathered bytes and releases their memory.
func (c *tunnelConn) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.send()
	c.out = nil
	return err
}

// send writes the gathered bytes. The caller holds mu.
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
