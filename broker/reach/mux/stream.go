package mux

import (
	"sync"

	"github.com/libp2p/go-yamux/v5"
)

// stream is a stream that is counted until it is closed.
type stream struct {
	*yamux.Stream
	session *Session
	kind    Kind
	once    sync.Once
}

// Close says that nothing follows, and gives the stream up: the other end reads what was
// written and then the end, and cannot write any more. Without the reset, a peer that
// never closes its direction would keep the stream and what it has sent.
func (s *stream) Close() error {
	err := s.Stream.CloseWrite()
	_ = s.Stream.Reset()
	s.once.Do(func() { s.session.leave(s.kind) })
	return err
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
