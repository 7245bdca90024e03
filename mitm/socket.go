package mitm

import (
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/nonblock"
)

// socket is a connection of the agent or to a server that is read and written as
// package nonblock does.
type socket struct {
	net.Conn
	stream *nonblock.Stream
}

// newSocket makes a socket of a connection that has a descriptor, and returns
// others as they are.
func newSocket(c net.Conn) net.Conn {
	stream := nonblock.New(c)
	if stream == nil {
		return c
	}
	return &socket{Conn: c, stream: stream}
}

// Read is the stream's.
func (s *socket) Read(b []byte) (int, error) { return s.stream.Read(b) }

// Write is the stream's.
func (s *socket) Write(b []byte) (int, error) { return s.stream.Write(b) }

// CloseWrite ends what is sent, if the connection can do that.
func (s *socket) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// poll reads from conn, which is the socket or TLS over it, without waiting for
// bytes of the peer.
func (s *socket) poll(conn net.Conn, b []byte) (int, error) { return s.stream.Poll(conn, b) }

// linger looks for bytes of a connection for a moment, if it is one of ours.
func linger(l *nonblock.Linger, c net.Conn, alone bool) {
	if s, ok := c.(*socket); ok {
		l.Wait(s.stream, alone)
	}
}
