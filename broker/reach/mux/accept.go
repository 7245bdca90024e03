package mux

import (
	"fmt"
	"io"
)

// Accept waits until the other end has opened a stream and sent its kind. It returns io.EOF when
// the session has ended.
func (s *Session) Accept() (Kind, Stream, error) {
	for {
		st := s.acceptNext()
		if st == nil {
			return 0, nil, io.EOF
		}
		var first [1]byte
		if _, err := io.ReadFull(st, first[:]); err != nil {
			st.giveUp() // the other end has given it up, too
			continue
		}
		st.kind = Kind(first[0])
		if maxOpen[st.kind] == 0 || s.opens(st.kind) {
			st.giveUp()
			s.Close()
			return 0, nil, fmt.Errorf("accept stream: %w: %q", errKind, first[:])
		}
		if !s.acquire(st.kind) {
			st.giveUp()
			continue
		}
		return st.kind, st, nil
	}
}

// acceptNext waits for a stream that the other end has opened. At the host's end the intake holds
// a stream back until something was received on it, so that a silent one does not delay the others.
// The container trusts the host. It returns nil when the session has ended.
func (s *Session) acceptNext() *stream {
	if s.intake != nil {
		share := s.intake.next()
		if share == nil {
			return nil
		}
		return &stream{Stream: share.stream, session: s, share: share}
	}
	y, err := s.yamux.AcceptStream()
	if err != nil {
		return nil
	}
	return &stream{Stream: y, session: s}
}

// acceptAll passes the streams that the container opens to the intake, until the session ends.
func (s *Session) acceptAll() {
	defer s.intake.noMore()
	for {
		y, err := s.yamux.AcceptStream()
		if err != nil {
			return // the session has ended; yamux returns no other error
		}
		s.intake.accepted(y)
	}
}
