package mux

import (
	"fmt"
	"io"
)

// Accept waits for a stream of the other end's that has said its kind. It returns io.EOF when the
// session has ended.
func (s *Session) Accept() (Kind, Stream, error) {
	for {
		st := s.arrived()
		if st == nil {
			return 0, nil, io.EOF
		}
		var first [1]byte
		if _, err := io.ReadFull(st, first[:]); err != nil {
			st.giveUp() // so has the other end, before it said what the stream is for
			continue
		}
		st.kind = Kind(first[0])
		if most[st.kind] == 0 || s.opens(st.kind) {
			st.giveUp()
			s.Close()
			return 0, nil, fmt.Errorf("accept stream: %w: %q", errKind, first[:])
		}
		if !s.enter(st.kind) {
			st.giveUp()
			continue
		}
		return st.kind, st, nil
	}
}

// arrived waits for a stream of the other end's. At the host's end one that says nothing does not
// hold up the others: it is passed over until something has come on it. The host itself is
// trusted to say what it wants. It returns nil when the session has ended.
func (s *Session) arrived() *stream {
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

// take takes the streams that the other end opens, until the session ends.
func (s *Session) take() {
	defer s.intake.finish()
	for {
		y, err := s.yamux.AcceptStream()
		if err != nil {
			return // yamux returns no error but that of the session's end
		}
		s.intake.accepted(y)
	}
}
