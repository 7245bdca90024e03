package bridge

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Hello is the first line on a connection to the host's socket for ports. All have the same length,
// so that a reader does not read what follows.
type Hello struct {
	Kind   HelloKind
	Ticket Ticket // zero in a HelloControl
}

// Ticket identifies one connection that the host has requested.
type Ticket [16]byte

// HelloKind is what a connection to the host's socket for ports is for.
type HelloKind string

// The kinds of connections. All have the same length.
const (
	HelloControl HelloKind = "control" // carries the host's requests
	HelloData    HelloKind = "connect" // carries the connection of the ticket
	HelloRefused HelloKind = "refused" // nothing in the container has accepted that connection
	// HelloOutward begins a connection that a program in the container has made to a port on which
	// the bridge listens for the host. Its ticket is an OutwardTicket.
	HelloOutward HelloKind = "outward"
)

// OutwardTicket encodes a port of the container for a HelloOutward.
func OutwardTicket(port uint16) (t Ticket) {
	binary.BigEndian.PutUint16(t[:], port)
	return t
}

// Port decodes an OutwardTicket.
func (t Ticket) Port() uint16 { return binary.BigEndian.Uint16(t[:]) }

// helloSize is the length of a Hello in bytes, with the line feed.
const helloSize = len(HelloControl) + 1 + 2*len(Ticket{}) + 1

// ReadHello reads the first line of a connection.
func ReadHello(r io.Reader) (Hello, error) {
	var line [helloSize]byte
	if _, err := io.ReadFull(r, line[:]); err != nil {
		return Hello{}, fmt.Errorf("read the first line: %w", err)
	}
	h := Hello{Kind: HelloKind(line[:len(HelloControl)])}
	_, err := hex.Decode(h.Ticket[:], line[len(HelloControl)+1:helloSize-1])
	known := h.Kind == HelloControl || h.Kind == HelloData || h.Kind == HelloRefused || h.Kind == HelloOutward
	if err != nil || !known || line[len(HelloControl)] != ' ' || line[helloSize-1] != '\n' {
		return Hello{}, fmt.Errorf("%q is not the first line of a connection", line)
	}
	return h, nil
}

func (h Hello) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s %x\n", h.Kind, h.Ticket)
	return err
}

// Request is a line that the host sends on a control connection.
type Request struct {
	Verb   Verb
	Port   uint16 // of the container's loopback interface
	Ticket Ticket // identifies the connection that answers; zero in a VerbClose, which has no answer
}

// Verb is the kind of a Request.
type Verb string

// The verbs of requests.
const (
	VerbConnect Verb = "connect" // to connect to the port; the answer carries that connection
	VerbListen  Verb = "listen"  // to listen on the port, for the host; the answer is empty
	VerbClose   Verb = "close"   // to stop listening
)

// Line encodes the request.
func (r Request) Line() []byte { return fmt.Appendf(nil, "%s %d %x\n", r.Verb, r.Port, r.Ticket) }

func parseRequest(line string) (r Request, err error) {
	words := strings.Split(line, " ")
	if len(words) != 3 || len(words[2]) != 2*len(r.Ticket) {
		return r, fmt.Errorf("%q is not a request", line)
	}
	n, err := strconv.ParseUint(words[1], 10, 16)
	if err != nil {
		return r, fmt.Errorf("%q is not a request: %w", line, err)
	}
	r.Verb, r.Port = Verb(words[0]), uint16(n)
	_, err = hex.Decode(r.Ticket[:], []byte(words[2]))
	return r, err
}

// Ports carries connections between the host and ports of the container's loopback interface, until
// ctx ends. The host cannot connect into a container. So Ports keeps a control connection to the
// socket open, on which the host requests connections, and ports to listen on.
func Ports(ctx context.Context, socket string) {
	p := &portServer{ctx: ctx, socket: socket, slots: make(chan struct{}, maxConns), listeners: map[uint16]net.Listener{}}
	defer p.running.Wait()
	defer p.closeAll()
	for ctx.Err() == nil {
		control, err := dial(ctx, socket)
		if err != nil {
			return // only the end of ctx ends the dialing
		}
		began := time.Now()
		serveControl(ctx, control, p.answer)
		if time.Since(began) < maxPause { // the host closes connections at once: do not flood it
			wait(ctx, maxPause/4)
		}
	}
}

// portServer carries connections for the host. Its listeners belong to the goroutine of Ports.
type portServer struct {
	ctx       context.Context // ends everything
	socket    string
	slots     chan struct{} // one value for each connection that is carried
	listeners map[uint16]net.Listener
	running   sync.WaitGroup
}

// answer starts to serve a request.
func (p *portServer) answer(r Request) {
	switch r.Verb {
	case VerbConnect:
		p.carry(func() { connect(p.ctx, r.Port, r.Ticket, p.socket) })
	case VerbListen:
		kind := HelloData
		if p.listen(r.Port) != nil {
			kind = HelloRefused
		}
		p.carry(func() { hello(p.ctx, p.socket, Hello{kind, r.Ticket}, func(*net.UnixConn) {}) })
	case VerbClose:
		if l := p.listeners[r.Port]; l != nil {
			_ = l.Close()
			delete(p.listeners, r.Port)
		}
	}
}

// carry runs f, once fewer than maxConns connections are carried.
func (p *portServer) carry(f func()) {
	select {
	case p.slots <- struct{}{}:
	case <-p.ctx.Done():
		return
	}
	p.running.Go(func() {
		defer func() { <-p.slots }()
		f()
	})
}

// listen listens on a port and carries the connections to it to the host.
func (p *portServer) listen(port uint16) error {
	if p.listeners[port] != nil {
		return nil // an earlier process of the host has requested it
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))) //nolint:noctx // binding a number does not wait
	if err != nil {
		return err
	}
	p.listeners[port] = l
	p.running.Go(func() {
		for {
			local, err := accept.Next(p.ctx, l, func(error, time.Duration) {}) // errors are retried silently
			if err != nil {
				return
			}
			p.carry(func() {
				defer local.Close()
				hello(p.ctx, p.socket, Hello{HelloOutward, OutwardTicket(port)}, func(host *net.UnixConn) {
					JoinPort(p.ctx, local.(*net.TCPConn), host)
				})
			})
		}
	})
	return nil
}

func (p *portServer) closeAll() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
}

// hello opens a connection to the host, writes h, and calls use with the connection.
func hello(ctx context.Context, socket string, h Hello, use func(host *net.UnixConn)) {
	limited, cancel := context.WithTimeout(ctx, hostWait)
	defer cancel()
	host, err := dial(limited, socket)
	if err != nil {
		return
	}
	defer host.Close()
	if h.write(host) == nil {
		use(host)
	}
}

// serveControl calls answer for each request of the host until the control connection or
// ctx ends.
func serveControl(ctx context.Context, control *net.UnixConn, answer func(Request)) {
	defer control.Close()
	stop := context.AfterFunc(ctx, func() { _ = control.Close() })
	defer stop()
	if (Hello{Kind: HelloControl}).write(control) != nil {
		return
	}
	for lines := bufio.NewScanner(control); lines.Scan(); {
		r, err := parseRequest(lines.Text())
		if err != nil {
			return
		}
		answer(r)
	}
}

// connect opens one connection to a port of the container and carries it to the host.
func connect(ctx context.Context, port uint16, t Ticket, socket string) {
	limited, cancel := context.WithTimeout(ctx, hostWait)
	local, err := dialLocal(limited, port)
	cancel()
	if err != nil {
		hello(ctx, socket, Hello{HelloRefused, t}, func(*net.UnixConn) {})
		return
	}
	defer local.Close()
	hello(ctx, socket, Hello{HelloData, t}, func(host *net.UnixConn) { JoinPort(ctx, local, host) })
}

// portBuffer is the buffer of a socket between container and host, in bytes. The kernel caps it at
// twice the default size. With a larger buffer, the two processes wait less for each other.
const portBuffer = 4 << 20

// HostConn is a connection between container and host: a socket, or a mux.Stream.
type HostConn interface {
	net.Conn
	CloseWrite() error
}

// JoinPort is Join for a connection to a port. host is the connection between container and host.
func JoinPort(ctx context.Context, local HalfCloser, host HostConn) {
	if socket, ok := host.(*net.UnixConn); ok {
		_ = socket.SetWriteBuffer(portBuffer) // for throughput only
	}
	Join(ctx, local, host)
}

// dialLocal connects to a port of the container's loopback interface. A program that listens on
// "localhost" may use only one of its two addresses.
func dialLocal(ctx context.Context, port uint16) (conn *net.TCPConn, err error) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		var c net.Conn
		if c, err = (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port)))); err == nil {
			return c.(*net.TCPConn), nil
		}
	}
	return nil, err
}
