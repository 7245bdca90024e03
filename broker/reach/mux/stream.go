package mux

import (
	"errors"
	"net"
	"os"
	"sync/atomic"

	"github.com/libp2p/go-yamux/v5"
)

// stream is a stream that is counted until it is closed. Its errors are those of package net.
type stream struct {
	*yamux.Stream
	session *Session
	kind    Kind
	share   *share // its unread bytes; nil at the container's end
	closed  atomic.Bool
}

// Read reads what the other end has written.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if s.share != nil {
		s.session.intake.wasRead(s.share, n)
	}
	return n, s.netError(err)
}

// Write waits until the other end has room for p. What was written may still be lost with the
// session.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.Stream.Write(p)
	return n, s.netError(err)
}

// netError returns the error that a connection of package net would return.
func (s *stream) netError(err error) error {
	var wrong *yamux.Error
	switch {
	case err == nil:
		return nil
	case s.closed.Load():
		return net.ErrClosed
	case errors.As(err, &wrong) && wrong.Timeout():
		return os.ErrDeadlineExceeded
	default:
		return err
	}
}

// Close closes the stream for writing and then resets it: the other end reads what was written and
// then the end, and cannot write any more. Without the reset, a peer that never closes its direction
// would keep the stream and its unread bytes alive.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	_ = s.Stream.CloseWrite() // fails if the other end has reset it
	s.giveUp()
	s.session.release(s.kind)
	return nil
}

// giveUp resets a stream and drops its unread bytes.
func (s *stream) giveUp() {
	_ = s.Stream.Reset()
	if s.share != nil {
		s.session.intake.wasClosed(s.share)
	}
}
