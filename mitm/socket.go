package mitm

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// socket is a connection to a server that can also be read without waiting.
type socket struct {
	net.Conn
	fd      syscall.RawConn
	polling bool
}

// newSocket makes a socket of a connection that has a descriptor, and returns other
// connections unchanged.
func newSocket(c net.Conn) net.Conn {
	with, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	fd, err := with.SyscallConn()
	if err != nil {
		return c
	}
	return &socket{Conn: c, fd: fd}
}

// poll reads from conn, which is the socket or TLS over it, without waiting for the peer. If no
// bytes are there, it returns os.ErrDeadlineExceeded; a TLS connection can still be read after
// that.
func (s *socket) poll(conn net.Conn, b []byte) (int, error) {
	s.polling = true
	defer func() { s.polling = false }()
	return conn.Read(b)
}

// Read reads what is there. It waits for bytes, except during poll.
func (s *socket) Read(b []byte) (int, error) {
	if !s.polling {
		return s.Conn.Read(b)
	}
	var n int
	var err error
	looked := s.fd.Read(func(fd uintptr) bool {
		for {
			if n, err = syscall.Read(int(fd), b); !errors.Is(err, syscall.EINTR) {
				return true
			}
		}
	})
	switch {
	case looked != nil:
		return 0, looked
	case errors.Is(err, syscall.EAGAIN):
		return 0, os.ErrDeadlineExceeded
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
