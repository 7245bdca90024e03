package bridge

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Hello is the first line on a connection to the host's socket for ports. All of them have
// the same length, so that its reader takes no byte of what follows.
type Hello struct {
	Kind   HelloKind
	Ticket Ticket // zero in a HelloControl
}

// Ticket names one connection that the host has asked for.
type Ticket [16]byte

// HelloKind says what a connection to the host's socket for ports is for.
type HelloKind string

// The kinds of connections. All have the same length.
const (
	HelloControl HelloKind = "control" // the host asks on it for connections to ports
	HelloData    HelloKind = "connect" // carries the connection that the ticket names
	HelloRefused HelloKind = "refused" // nothing in the container took that connection
)

// helloSize is the length of a Hello in bytes, with the line's end.
const helloSize = len(HelloControl) + 1 + 2*len(Ticket{}) + 1

// ReadHello reads the first line of a connection.
func ReadHello(r io.Reader) (Hello, error) {
	var line [helloSize]byte
	if _, err := io.ReadFull(r, line[:]); err != nil {
		return Hello{}, fmt.Errorf("read the first line: %w", err)
	}
	h := Hello{Kind: HelloKind(line[:len(HelloControl)])}
	_, err := hex.Decode(h.Ticket[:], line[len(HelloControl)+1:helloSize-1])
	known := h.Kind == HelloControl || h.Kind == HelloData || h.Kind == HelloRefused
	if err != nil || !known || line[len(HelloControl)] != ' ' || line[helloSize-1] != '\n' {
		return Hello{}, fmt.Errorf("%q is no first line of a connection", line)
	}
	return h, nil
}

func (h Hello) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s %x\n", h.Kind, h.Ticket)
	return err
}

// DialRequest is the line by which the host asks, on a control connection, for a connection to
// a port of the container.
func DialRequest(port int, t Ticket) []byte { return fmt.Appendf(nil, "%d %x\n", port, t) }

func parseDialRequest(line string) (port uint16, t Ticket, err error) {
	number, ticket, _ := strings.Cut(line, " ")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || len(ticket) != 2*len(t) {
		return 0, t, fmt.Errorf("%q is no port and ticket", line)
	}
	_, err = hex.Decode(t[:], []byte(ticket))
	return uint16(n), t, err
}

// Ports carries connections from the host to ports of the container's loopback interface,
// until ctx ends. The host cannot connect into a container, so Ports holds a control
// connection to the socket, on which the host asks for each of them.
func Ports(ctx context.Context, socket string) {
	var conns sync.WaitGroup
	defer conns.Wait()
	slots := make(chan struct{}, maxConns)
	for ctx.Err() == nil {
		control, err := dial(ctx, socket)
		if err != nil {
			return // only the end of ctx ends the dialing
		}
		began := time.Now()
		serveControl(ctx, control, func(port uint16, t Ticket) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			conns.Go(func() {
				defer func() { <-slots }()
				connect(ctx, port, t, socket)
			})
		})
		if time.Since(began) < mostPause { // a host that hangs up at once is left in peace
			wait(ctx, mostPause/4)
		}
	}
}

// serveControl calls connect for each request of the host until the control connection or
// ctx ends.
func serveControl(ctx context.Context, control *net.UnixConn, connect func(uint16, Ticket)) {
	defer control.Close()
	stop := context.AfterFunc(ctx, func() { _ = control.Close() })
	defer stop()
	if (Hello{Kind: HelloControl}).write(control) != nil {
		return
	}
	for lines := bufio.NewScanner(control); lines.Scan(); {
		port, t, err := parseDialRequest(lines.Text())
		if err != nil {
			return
		}
		connect(port, t)
	}
}

// connect opens one connection to a port of the container and carries it to the host.
func connect(ctx context.Context, port uint16, t Ticket, socket string) {
	limited, cancel := context.WithTimeout(ctx, hostWait)
	defer cancel()
	local, err := dialLocal(limited, port)
	kind := HelloData
	if err != nil {
		kind = HelloRefused
	} else {
		defer local.Close()
	}
	host, err := dial(limited, socket)
	if err != nil {
		return
	}
	defer host.Close()
	if (Hello{kind, t}).write(host) == nil && kind == HelloData {
		JoinPort(ctx, local, host)
	}
}

// portBuffer is how many bytes the kernel may keep for the reader of a socket between
// container and host. It allows twice its usual size at most. With more bytes at a time, the
// two processes wait less for each other.
const portBuffer = 4 << 20

// JoinPort is Join for a connection to a port, of which host is the socket between container
// and host.
func JoinPort(ctx context.Context, local HalfCloser, host *net.UnixConn) {
	_ = host.SetWriteBuffer(portBuffer) // without it there is less throughput, and nothing else
	Join(ctx, local, host)
}

// dialLocal connects to a port of this network namespace's loopback interface. A program
// that listens on "localhost" may have only one of its two addresses.
func dialLocal(ctx context.Context, port uint16) (conn *net.TCPConn, err error) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		var c net.Conn
		if c, err = (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port)))); err == nil {
			return c.(*net.TCPConn), nil
		}
	}
	return nil, err
}
