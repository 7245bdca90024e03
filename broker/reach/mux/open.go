package mux

import (
	"context"
	"fmt"

	"github.com/libp2p/go-yamux/v5"
)

// Open opens a stream of a kind that this end may open. It waits while the other end cannot take
// one, until ctx ends.
func (s *Session) Open(ctx context.Context, k Kind) (Stream, error) {
	if most[k] == 0 || !s.opens(k) {
		return nil, fmt.Errorf("open stream: %w: %q", errKind, k)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	begun, err := s.launch(ctx, k)
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

// begun is a stream that was opened, or why not.
type begun struct {
	stream *stream
	err    error
}

// launch opens a stream on a goroutine of the session, because yamux keeps what it has begun
// and cannot say. The stream is handed over, or given up when ctx has ended before.
func (s *Session) launch(ctx context.Context, k Kind) (<-chan begun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errEnded
	}
	if s.open[k] >= most[k] {
		return nil, ErrFull
	}
	s.open[k]++
	result := make(chan begun) // unbuffered: what is sent is taken
	s.running.Go(func() {
		st, err := s.begin(k)
		if err != nil {
			s.leave(k)
		}
		select {
		case result <- begun{st, err}:
		case <-ctx.Done():
			if err == nil {
				st.giveUp()
				s.leave(k)
			}
		}
	})
	return result, nil
}

// begin opens a stream and says its kind. It ends with the session.
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

// openStream opens a stream of yamux. At the host's end the intake knows it before the other end
// can write to it.
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
		s.intake.gone(st.share)
		return err
	}
	st.Stream = y
	s.intake.opened(st.share, y)
	return nil
}
