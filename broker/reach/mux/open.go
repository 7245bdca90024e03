package mux

import (
	"context"
	"fmt"

	"github.com/libp2p/go-yamux/v5"
)

// Open opens a stream of a kind that this end may open. It waits until the session can send, or
// ctx ends.
func (s *Session) Open(ctx context.Context, k Kind) (Stream, error) {
	if maxOpen[k] == 0 || !s.opens(k) {
		return nil, fmt.Errorf("open stream: %w: %q", errKind, k)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	begun, err := s.openAsync(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	select {
	case b := <-begun:
		if b.err != nil {
			return nil, fmt.Errorf("open stream: %w", b.err)
		}
		return b.stream, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("open stream: %w", ctx.Err())
	}
}

// begun is the result of opening a stream.
type begun struct {
	stream *stream
	err    error
}

// openAsync opens a stream on a goroutine of the session, because yamux blocks without a context
// when it cannot send. If ctx ends before, the stream is given up.
func (s *Session) openAsync(ctx context.Context, k Kind) (<-chan begun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errEnded
	}
	if s.open[k] >= maxOpen[k] {
		return nil, ErrFull
	}
	s.open[k]++
	result := make(chan begun) // unbuffered: a stream that was sent has been received
	s.running.Go(func() {
		st, err := s.begin(k)
		if err != nil {
			s.release(k)
		}
		select {
		case result <- begun{st, err}:
		case <-ctx.Done():
			if err == nil {
				st.giveUp()
				s.release(k)
			}
		}
	})
	return result, nil
}

// begin opens a stream and sends its kind. It fails when the session ends.
func (s *Session) begin(k Kind) (*stream, error) {
	st := &stream{session: s, kind: k}
	if err := s.openStream(st); err != nil {
		return nil, err
	}
	if _, err := st.Stream.Write([]byte{byte(k)}); err != nil {
		st.giveUp()
		return nil, err
	}
	return st, nil
}

// openStream opens a yamux stream. At the host's end it registers it with the intake before the
// container can write to it.
func (s *Session) openStream(st *stream) (err error) {
	if s.intake == nil {
		st.Stream, err = s.yamux.OpenStream(context.Background())
		return err
	}
	s.opening <- struct{}{}
	defer func() { <-s.opening }()
	if st.share, err = s.intake.open(); err != nil {
		return err
	}
	var y *yamux.Stream
	if y, err = s.yamux.OpenStream(context.Background()); err != nil {
		s.intake.wasClosed(st.share)
		return err
	}
	st.Stream = y
	s.intake.opened(st.share, y)
	return nil
}
