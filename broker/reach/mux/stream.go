package mux

import (
	"errors"
	"net"
	"os"
	"sync/atomic"

	"github.com/libp2p/go-yamux/v5"
)

// stream is a stream that is counted until it is closed. Its errors are those of other
// connections.
type stream struct {
	*yamux.Stream
	session *Session
	kind    Kind
	share   *share // of what is unread; nil at the container's end
	closed  atomic.Bool
}

// Read reads what the other end has written, and makes room.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if s.share != nil {
		s.session.intake.took(s.share, n)
	}
	return n, s.usual(err)
}

// Write waits until the other end has room for p. It may still be lost with the session.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.Stream.Write(p)
	return n, s.usual(err)
}

// usual is the error that a connection of package net would return.
func (s *stream) usual(err error) error {
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

// Close says that nothing follows, and gives the stream up: the other end reads what was
// written and then the end, and cannot write any more. Without the reset, a peer that
// never closes its direction would keep the stream and what it has sent.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	_ = s.Stream.CloseWrite() // the other end may have reset it
	s.giveUp()
	s.session.leave(s.kind)
	return nil
}

// giveUp resets a stream, with what of it is unread.
func (s *stream) giveUp() {
	_ = s.Stream.Reset()
	if s.share != nil {
		s.session.intake.gone(s.share)
	}
}
