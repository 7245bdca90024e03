package outer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Streams are a program's standard streams that a client has passed. Other processes share them,
// so they stay in blocking mode. End ends all waiting reads and writes.
type Streams struct {
	In, Out, Err *Stream

	ended, end  *os.File // the two ends of a pipe, which End closes
	once, close sync.Once
}

// Stream is one of the standard streams. A closed terminal or a pipe without a reader is not an
// error.
type Stream struct {
	all     *Streams
	file    *os.File
	fd      int         // file, or a pipe or terminal opened again in nonblocking mode
	present func() bool // as in Passed

	using sync.Mutex
	gone  bool // the file or its other end is closed
}

// PassStreams takes over three files. present is as in Passed.
func PassStreams(in, out, errs *os.File, present func() bool) (*Streams, error) {
	s := new(Streams)
	var err error
	if s.ended, s.end, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("pass standard streams: %w", err)
	}
	s.In = &Stream{all: s, file: in, fd: reopen(in, unix.O_RDONLY), present: present}
	s.Out = &Stream{all: s, file: out, fd: reopen(out, unix.O_WRONLY), present: present}
	s.Err = &Stream{all: s, file: errs, fd: reopen(errs, unix.O_WRONLY), present: present}
	return s, nil
}

// reopen opens a pipe or a terminal again in nonblocking mode, where the system can do that. For all
// other files it returns the descriptor of f.
func reopen(f *os.File, mode int) int {
	info, err := f.Stat()
	if err == nil && (info.Mode()&os.ModeNamedPipe != 0 || IsTerminal(f)) {
		if fd, err := openAgain(int(f.Fd()), mode); err == nil {
			return fd
		}
	}
	return int(f.Fd())
}

// End ends all waiting reads and writes: reads return io.EOF, and what is written from now on is
// dropped.
func (s *Streams) End() { s.once.Do(func() { _ = s.end.Close() }) }

// Close calls End and closes the files, so that the processes at their other ends see the end.
func (s *Streams) Close() {
	s.End()
	s.close.Do(func() {
		for _, stream := range []*Stream{s.In, s.Out, s.Err} {
			stream.close()
		}
		_ = s.ended.Close()
	})
}

// close closes the file when no read or write uses it any more.
func (s *Stream) close() {
	s.using.Lock()
	defer s.using.Unlock()
	if s.fd != int(s.file.Fd()) {
		_ = unix.Close(s.fd)
	}
	_ = s.file.Close()
	s.gone = true
}

// IsTerminal reports whether the stream is a terminal.
func (s *Stream) IsTerminal() bool { return IsTerminal(s.file) }

// mostInStream is the size in bytes of the largest write. A pipe that is ready has room for that many.
const mostInStream = 512

// Read reads the available input. From a terminal it reads nothing while the client is in the
// background.
func (s *Stream) Read(b []byte) (int, error) {
	s.using.Lock()
	defer s.using.Unlock()
	for !s.gone {
		if !s.wait(s.fd, unix.POLLIN, -1) {
			return 0, io.EOF
		}
		if s.IsTerminal() && !s.present() {
			if s.wait(-1, 0, int(presentWait.Milliseconds())) {
				continue
			}
			return 0, io.EOF
		}
		n, err := unix.Read(s.fd, b)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.EIO): // the terminal is gone
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("read standard input: %w", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
	return 0, io.EOF
}

// Write writes all of b. When nobody reads any more, it drops the rest.
func (s *Stream) Write(b []byte) (int, error) {
	s.using.Lock()
	defer s.using.Unlock()
	for left := b; len(left) > 0 && !s.gone; {
		if !s.wait(s.fd, unix.POLLOUT, -1) {
			return len(b), nil
		}
		n, err := unix.Write(s.fd, left[:min(len(left), mostInStream)])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN): // a terminal has room for a byte, and needs two for the end of a line
			s.wait(-1, 0, int(presentWait.Milliseconds()))
		case errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EIO) || errors.Is(err, unix.ECONNRESET):
			s.gone = true
		case err != nil:
			return len(b) - len(left), fmt.Errorf("write: %w", err)
		default:
			left = left[n:]
		}
	}
	return len(b), nil
}

// wait waits until a descriptor is ready, for at most timeout milliseconds; -1 means for ever. It
// returns false when the streams have ended.
func (s *Stream) wait(fd int, events int16, timeout int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(s.all.ended.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, timeout)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && fds[1].Revents == 0
	}
}

// SaveLines returns a function that restores the terminal's present state. A client calls it when its
// daemon has died while reading lines there. For other files the function does nothing.
func SaveLines(in, out *os.File) (restore func() error) {
	saved, err := getTermios(int(in.Fd()))
	if err != nil {
		return func() error { return nil }
	}
	return func() error {
		if IsTerminal(out) {
			_, err = out.WriteString(unmarkPastes)
		}
		return errors.Join(setTermios(int(in.Fd()), saved), err)
	}
}
