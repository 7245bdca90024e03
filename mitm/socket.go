package mitm

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// socket is a connection of the agent or to a server, read and written with calls
// that never wait: when there is nothing to read, or no room, the runtime is asked
// to tell when that has changed, as package net does. The calls themselves it is
// not told of. It would wake the thread that watches over calls, for every request
// and every event, and would give the processor away when one takes some twenty
// microseconds.
//
// One goroutine at a time reads, and one writes.
type socket struct {
	net.Conn
	raw     syscall.RawConn
	in, out transfer
	polling bool // reads do not wait
}

// transfer is the current read or write of a socket.
type transfer struct {
	attempt func(fd uintptr) (finished bool)
	rest    []byte // what is to be filled, or sent
	n       int    // bytes that were read, or sent
	err     error  // of the last call
}

// newSocket makes a socket of a connection that has a descriptor, and returns
// others as they are.
func newSocket(c net.Conn) net.Conn {
	with, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return c // it is closed, and will say so
	}
	s := &socket{Conn: c, raw: raw}
	s.in.attempt, s.out.attempt = s.readOnce, s.writeAll
	return s
}

// Read reads. While polling, it ends with os.ErrDeadlineExceeded, after which
// TLS can still be read from, when nothing is there.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s.in.rest = b
	err := s.raw.Read(s.in.attempt)
	s.in.rest = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(s.in.err, syscall.EAGAIN):
		return 0, os.ErrDeadlineExceeded
	case s.in.err != nil:
		return 0, s.failure("read", s.in.err)
	case s.in.n == 0:
		return 0, io.EOF
	}
	return s.in.n, nil
}

func (s *socket) readOnce(fd uintptr) bool {
	s.in.n, s.in.err = readNow(fd, s.in.rest)
	return s.polling || !errors.Is(s.in.err, syscall.EAGAIN)
}

// Write writes all of b, unless it fails.
func (s *socket) Write(b []byte) (int, error) {
	s.out.rest, s.out.n, s.out.err = b, 0, nil
	err := s.raw.Write(s.out.attempt)
	s.out.rest = nil
	if err == nil && s.out.err != nil {
		err = s.failure("write", s.out.err)
	}
	return s.out.n, err
}

func (s *socket) writeAll(fd uintptr) bool {
	for len(s.out.rest) > 0 {
		n, err := writeNow(fd, s.out.rest)
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		if err != nil {
			s.out.err = err
			return true
		}
		s.out.rest = s.out.rest[n:]
		s.out.n += n
	}
	return true
}

func (s *socket) failure(op string, err error) error {
	return &net.OpError{Op: op, Net: s.LocalAddr().Network(), Addr: s.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}

// CloseWrite ends what is sent, if the connection can do that.
func (s *socket) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// poll reads from conn, which is the socket or TLS over it, without waiting for
// bytes of the peer.
func (s *socket) poll(conn net.Conn, b []byte) (int, error) {
	s.polling = true
	defer func() { s.polling = false }()
	return conn.Read(b)
}
