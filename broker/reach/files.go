package reach

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ErrFilled is returned by an order's Fill, and then by Begin, when the container was there only to
// be filled. Its agent is never let go.
var ErrFilled = errors.New("the container is filled")

// present is the link in use, from when the container has reported on it until it ends.
type present struct {
	mu          sync.Mutex
	link        *link.Link // nil: there is none
	connections *mux.Session
	changed     chan struct{} // closed at the next change
}

func (p *present) set(l *link.Link, connections *mux.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.connections = l, connections
	close(p.changed)
	p.changed = make(chan struct{})
}

// look returns what is present, and what is closed when that changes.
func (p *present) look() (l *link.Link, connections *mux.Session, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link, p.connections, p.changed
}

// RTT is the round trip to the container. 0 is unknown.
func (s *Stream) RTT() time.Duration {
	l, _, _ := s.present.look()
	if l == nil {
		return 0
	}
	return l.RTT()
}

// OpenFiles opens a connection to the container's end of its files, as soon as there is a link. The
// connection outlives carriers and ends with the link. It fails with mux.ErrFull when too many are
// open.
func (s *Stream) OpenFiles(ctx context.Context) (net.Conn, error) {
	const op = "reach the container's files"
	for {
		l, connections, changed := s.present.look()
		if l != nil {
			c, err := connections.Open(ctx, mux.Files)
			if err == nil {
				return c, nil
			}
			if errors.Is(err, mux.ErrFull) {
				return nil, fault.Wrap(op, err, "")
			}
		} // else, or if that link has just ended, the next one may do
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fault.Wrap(op, context.Cause(ctx), "")
		case <-s.life.Done():
			return nil, fault.Wrap(op, context.Cause(s.life), "")
		}
	}
}

// fill waits until the container has been filled, if that was ordered, or the link has ended. The
// next link finds it under way or done.
func (s *Stream) fill(l *link.Link) (filled bool, err error) {
	if s.order.Fill == nil {
		return true, nil
	}
	s.filling.Do(func() {
		s.patience.Stop()
		s.running.Go(func() {
			defer close(s.filled)
			s.fillErr = s.order.Fill(s.life)
			s.patience.Reset(reportPatience)
		})
	})
	select {
	case <-s.filled:
		return s.fillErr == nil, s.fillErr
	case <-l.Done():
		return false, nil
	}
}
