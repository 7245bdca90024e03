package mitm

import (
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/nonblock"
)

// socket is a connection of the agent or to a server that is read and written with
// package nonblock.
type socket struct {
	net.Conn
	stream *nonblock.Stream
}

// newSocket makes a socket of a connection that has a descriptor, and returns other
// connections unchanged.
func newSocket(c net.Conn) net.Conn {
	stream := nonblock.New(c)
	if stream == nil {
		return c
	}
	return &socket{Conn: c, stream: stream}
}

// Read reads from the stream.
func (s *socket) Read(b []byte) (int, error) { return s.stream.Read(b) }

// Write writes to the stream.
func (s *socket) Write(b []byte) (int, error) { return s.stream.Write(b) }

// CloseWrite closes the sending side, if the connection can do that.
func (s *socket) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// poll reads from conn, which is the socket or TLS over it, without waiting for the peer.
func (s *socket) poll(conn net.Conn, b []byte) (int, error) { return s.stream.Poll(conn, b) }

// linger waits a moment for bytes of a connection, if it is a socket.
func linger(l *nonblock.Linger, c net.Conn, alone bool) {
	if s, ok := c.(*socket); ok {
		l.Wait(s.stream, alone)
	}
}
