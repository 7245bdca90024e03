package mitm

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// upstreamRequest is a request to the server.
type upstreamRequest struct {
	method string
	head   []byte // with the empty line at its end
	body   []byte
}

// togetherBytes is the size up to which a body is written together with its head. A
// larger body is sent while the answer is read, because a server may refuse it before it
// has read all of it.
const togetherBytes = 32 << 10

// upstreamConn is one connection to a server.
type upstreamConn struct {
	raw    net.Conn
	conn   net.Conn // TLS over raw, or raw
	r      *bufio.Reader
	limits *Limits

	used     bool      // it has carried a request
	sent     int       // bytes of the current request
	received int64     // bytes of the current answer's head
	since    time.Time // when it became idle
	readBy   time.Time // the deadline of reads
	writeBy  time.Time // the deadline of writes
	writing  chan error
	one      [1]byte
	fields   []answerField // memory for the fields of the current answer
}

func newUpstreamConn(raw net.Conn, limits *Limits) *upstreamConn {
	c := &upstreamConn{raw: newSocket(raw), limits: limits}
	c.secure(c.raw)
	return c
}

// secure makes conn the connection that carries the requests.
func (c *upstreamConn) secure(conn net.Conn) {
	c.conn = conn
	c.r = bufio.NewReaderSize(conn, maxRecord)
}

func (c *upstreamConn) close() { _ = c.raw.Close() }

// idle reports whether a kept connection is open and nothing came on it. Bytes that a
// server sends without a request must not be read as an answer.
func (c *upstreamConn) idle() bool {
	raw, ok := c.raw.(*socket)
	if !ok {
		return true
	}
	n, err := raw.poll(c.conn, c.one[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// makeIdle prepares the connection for being kept.
func (c *upstreamConn) makeIdle() {
	c.used, c.since = true, time.Now()
	if c.readBy.Before(c.since.Add(2 * keptTime)) {
		c.readBy = time.Time{}
		_ = c.conn.SetReadDeadline(c.readBy)
	}
}

// readTimeout makes reads fail after about d.
func (c *upstreamConn) readTimeout(d time.Duration) { postpone(&c.readBy, d, c.conn.SetReadDeadline) }

// ask sends a request and reads the head of its answer.
func (c *upstreamConn) ask(ctx context.Context, q *upstreamRequest) (*upstreamAnswer, error) {
	stop := context.AfterFunc(ctx, c.close)
	c.sent, c.received = 0, 0
	err := c.send(q)
	if err == nil {
		a := &upstreamAnswer{c: c, stop: stop, fields: c.fields[:0]}
		c.readTimeout(c.limits.ResponseTime)
		if err = a.readHead(q.method); err == nil {
			return a, nil
		}
	}
	stop()
	c.close()
	c.sending()
	return nil, err
}

// send sends the request. It sends a large body in the background.
func (c *upstreamConn) send(q *upstreamRequest) error {
	if len(q.body) <= togetherBytes {
		q.head = append(q.head, q.body...)
		q.body = nil
		return c.write(q.head)
	}
	if err := c.write(q.head); err != nil {
		return err
	}
	writing := make(chan error, 1) // capacity 1, lossless: one result
	c.writing = writing
	go func() { writing <- c.write(q.body) }()
	return nil
}

// sending waits until a body that is sent in the background has been sent.
func (c *upstreamConn) sending() {
	if c.writing != nil {
		<-c.writing //nolint:errcheck // the error of the answer is reported instead
		c.writing = nil
	}
}

// sentAll reports whether the whole request was sent without an error.
func (c *upstreamConn) sentAll() bool {
	if c.writing == nil {
		return true
	}
	select {
	case err := <-c.writing:
		c.writing = nil
		return err == nil
	default:
		return false
	}
}

// write sends bytes in pieces, each of which must be sent within SendStall.
func (c *upstreamConn) write(p []byte) error {
	for len(p) > 0 {
		piece := p[:min(len(p), pieceBytes)]
		postpone(&c.writeBy, c.limits.SendStall, c.conn.SetWriteDeadline)
		n, err := c.conn.Write(piece)
		c.sent += n
		if err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}
