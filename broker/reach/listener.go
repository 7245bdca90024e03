package reach

import (
	"net"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// backlog is how many connections of a kind may wait to be accepted; others are closed.
const backlog = 64

// listener accepts the container's connections of one kind.
type listener struct {
	kind   mux.Kind
	conns  chan mux.Stream // bounded by backlog; never closed
	closed chan struct{}
	once   sync.Once
}

func newListener(kind mux.Kind) *listener {
	return &listener{kind: kind, conns: make(chan mux.Stream, backlog), closed: make(chan struct{})}
}

// offer queues a connection to be accepted, or closes it if the queue is full or the listener closed.
func (l *listener) offer(c mux.Stream) {
	select {
	case <-l.closed:
	default:
		select {
		case l.conns <- c:
			return
		default:
		}
	}
	_ = c.Close()
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept fail and closes the queued connections.
func (l *listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { close(l.closed); err = nil })
	for {
		select {
		case c := <-l.conns:
			_ = c.Close()
		default:
			return err
		}
	}
}

func (l *listener) Addr() net.Addr { return address(l.kind) }

// address is the address of a listener: the kind of its connections.
type address mux.Kind

func (address) Network() string  { return "stream" }
func (a address) String() string { return string(rune(a)) }
