// Package nonblock reads and writes with raw, non-blocking system calls.
//
// When there is nothing to read, or no room to write, a goroutine waits for the
// runtime's network poller, as in package net. But the scheduler is not told of the
// calls themselves. It would wake its monitor thread for each of them and, when one
// takes some twenty microseconds, hand the processor to another goroutine. Both cost
// more than passing on the small messages of a proxy.
//
// To sleep and be woken costs most of all. So a goroutine that has passed on a lone
// message may poll for the reply before it sleeps (Linger): a local server answers in
// less time than that takes.
package nonblock

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Stream is a socket or a pipe. One goroutine at a time may read, and one may write.
// Deadlines and the end are those of the connection or file it was made of.
type Stream struct {
	raw     syscall.RawConn
	in, out transfer
	polling bool
}

// transfer is the current read or write.
type transfer struct {
	attempt func(fd uintptr) (finished bool)
	rest    []byte // what is to be filled, or sent
	n       int    // bytes that were read, or sent
	err     error  // of the last call
}

// New makes a stream of what has a descriptor that does not wait. It returns nil
// for anything else, and for what is closed.
func New(c any) *Stream {
	with, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return nil
	}
	ready := false
	if err := raw.Control(func(fd uintptr) { ready = neverWaits(fd) }); err != nil || !ready {
		return nil
	}
	s := &Stream{raw: raw}
	s.in.attempt, s.out.attempt = s.readOnce, s.writeAll
	return s
}

// Reader is a stream over r, or r itself where there can be none.
func Reader(r io.Reader) io.Reader {
	if s := New(r); s != nil {
		return s
	}
	return r
}

// Writer is a stream over w, or w itself where there can be none.
func Writer(w io.Writer) io.Writer {
	if s := New(w); s != nil {
		return s
	}
	return w
}

// Read reads what is there, and waits while nothing is. While polling, it then
// ends with os.ErrDeadlineExceeded, after which TLS can still be read from.
func (s *Stream) Read(b []byte) (int, error) {
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
		return 0, os.NewSyscallError("read", s.in.err)
	case s.in.n == 0:
		return 0, io.EOF
	}
	return s.in.n, nil
}

func (s *Stream) readOnce(fd uintptr) bool {
	s.in.n, s.in.err = readNow(fd, s.in.rest)
	return s.polling || !errors.Is(s.in.err, syscall.EAGAIN)
}

// Write writes all of b, unless it fails.
func (s *Stream) Write(b []byte) (int, error) {
	s.out.rest, s.out.n, s.out.err = b, 0, nil
	err := s.raw.Write(s.out.attempt)
	s.out.rest = nil
	if err == nil && s.out.err != nil {
		err = os.NewSyscallError("write", s.out.err)
	}
	return s.out.n, err
}

func (s *Stream) writeAll(fd uintptr) bool {
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

// Poll reads from r, which is the stream or something that reads from it, such as
// TLS, without waiting for bytes of the other end.
func (s *Stream) Poll(r io.Reader, b []byte) (int, error) {
	s.polling = true
	defer func() { s.polling = false }()
	return r.Read(b)
}

// neverWaits reports whether calls on a descriptor return at once.
func neverWaits(fd uintptr) bool {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}
