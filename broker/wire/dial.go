package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ErrNoDaemon means that nobody listens on the socket.
var ErrNoDaemon = errors.New("no daemon runs")

// Dial connects to the daemon that listens on a socket and says hello. It completes the hello with
// the protocol, and with all rights if h names none. If the daemon refuses the client, the error
// says why.
func Dial(ctx context.Context, socket string, h Hello) (*Conn, Welcome, error) {
	const op = "reach the daemon"
	unix, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, Welcome{}, ErrNoDaemon
	}
	if err != nil {
		return nil, Welcome{}, fmt.Errorf("%s: %w", op, err)
	}
	c := NewConn(unix)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	w, err := c.greet(h)
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err == nil {
		return c, w, nil
	}
	_ = c.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil, Welcome{}, ErrNoDaemon // the daemon has just ended
	}
	return nil, Welcome{}, fault.Wrap(op, err, "")
}

// greet says hello, and returns the answer.
func (c *Conn) greet(h Hello) (w Welcome, err error) {
	h.Protocol = Protocol
	if h.Rights == "" {
		h.Rights = Operate
	}
	if err := c.Send(KindHello, h); err != nil {
		return w, err
	}
	f, err := c.Receive()
	if err != nil {
		return w, err
	}
	defer f.Close()
	switch f.Kind {
	case KindWelcome:
		return w, f.IntoKnown(&w)
	case KindRefused:
		var r Refused
		if err := f.IntoKnown(&r); err != nil {
			return w, err
		}
		return w, fault.New(r.Next, "%s", r.Reason)
	}
	return w, fmt.Errorf("unexpected answer %q", f.Kind)
}
