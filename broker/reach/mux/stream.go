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
	closed  atomic.Bool
}

// Read reads what the other end has written.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
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
	_ = s.Stream.Reset()
	s.session.leave(s.kind)
	return nil
}

// accepted is a stream of the other end's, with what of it is unread.
type accepted struct {
	stream
	share *share
}

// Read reads, and makes room.
func (a *accepted) Read(p []byte) (int, error) {
	n, err := a.stream.Read(p)
	a.session.intake.took(a.share, n)
	return n, err
}

// Close gives up what is unread as well.
func (a *accepted) Close() error {
	err := a.stream.Close()
	a.session.intake.gone(a.share)
	return err
}

// giveUp resets a stream that nobody was told of.
func (a *accepted) giveUp() {
	_ = a.Stream.Reset()
	a.session.intake.gone(a.share)
}
