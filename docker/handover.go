package docker

import (
	"bytes"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// HoldReads with true makes reads fail with os.ErrDeadlineExceeded, a waiting one included, until it
// is called with false. No output is lost.
func (ct *Container) HoldReads(hold bool) { _ = ct.current().conn.SetReadDeadline(deadlineFor(hold)) }

// HoldWrites is HoldReads for writes. A waiting write returns how much it has written.
func (ct *Container) HoldWrites(hold bool) {
	_ = ct.current().conn.SetWriteDeadline(deadlineFor(hold))
}

func deadlineFor(hold bool) time.Time {
	if hold {
		return past
	}
	return time.Time{}
}

// Connection returns the connection to the container's terminal, which another process can continue
// with Adopt, and the bytes that were received but not read. Call it while reads are held. Only a
// terminal over the engine's own Unix socket can be continued: an ssh ends with this program.
func (ct *Container) Connection() (conn syscall.RawConn, unread []byte, err error) {
	s := ct.current()
	if !ct.client.endpoint.Local() || s.raw == nil || s.closed.Load() {
		return nil, nil, fault.New("", "the connection to the engine cannot be continued")
	}
	if rest := s.out.rest; rest != nil {
		unread, err = rest.Peek(rest.Buffered())
	}
	return s.raw, bytes.Clone(unread), err
}

// Size returns the size that was set last; 0 before the first Resize or SetSize.
func (ct *Container) Size() (cols, rows int) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	return ct.cols, ct.rows
}

// SetSize records the size that the terminal has, without changing it.
func (ct *Container) SetSize(cols, rows int) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	ct.cols, ct.rows = cols, rows
}

// Adopt continues an attachment to a container's terminal. file is a copy of the connection; Adopt
// closes it.
func (c *Client) Adopt(id string, file *os.File) (*Container, error) {
	const op = "continue the attachment to a container"
	conn, err := net.FileConn(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	st, err := newStream(conn, nil)
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	return newContainer(c, id, st), nil
}
