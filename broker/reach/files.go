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

// ErrFilled is returned by an order's Fill, and then by Begin, when the container was started only to
// be filled. No agent starts in it.
var ErrFilled = errors.New("the container is filled")

// currentLink is the link in use, from the container's report on it until it ends.
type currentLink struct {
	mu          sync.Mutex
	link        *link.Link // nil: there is none
	connections *mux.Session
	changed     chan struct{} // closed at the next change
}

func (p *currentLink) set(l *link.Link, connections *mux.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.connections = l, connections
	close(p.changed)
	p.changed = make(chan struct{})
}

// get returns the link in use, and a channel that is closed when that changes.
func (p *currentLink) get() (l *link.Link, connections *mux.Session, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link, p.connections, p.changed
}

// RTT is the round trip to the container. 0 is unknown.
func (s *Stream) RTT() time.Duration {
	l, _, _ := s.current.get()
	if l == nil {
		return 0
	}
	return l.RTT()
}

// OpenFiles opens a connection to the container's treesync.Server, as soon as there is a link. The
// connection outlives carriers and ends with the link. It fails with mux.ErrFull when too many are
// open.
func (s *Stream) OpenFiles(ctx context.Context) (net.Conn, error) {
	const op = "reach the container's files"
	for {
		l, connections, changed := s.current.get()
		if l != nil {
			c, err := connections.Open(ctx, mux.Files)
			if err == nil {
				return c, nil
			}
			if errors.Is(err, mux.ErrFull) {
				return nil, fault.Wrap(op, err, "")
			}
		} // else the link has just ended: wait for the next one
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
// first call starts that; it goes on over the next link.
func (s *Stream) fill(l *link.Link) (filled bool, err error) {
	if s.order.Fill == nil {
		return true, nil
	}
	s.filling.Do(func() {
		s.reportTimer.Stop()
		s.running.Go(func() {
			defer close(s.filled)
			s.fillErr = s.order.Fill(s.life)
			s.reportTimer.Reset(reportPatience)
		})
	})
	select {
	case <-s.filled:
		return s.fillErr == nil, s.fillErr
	case <-l.Done():
		return false, nil
	}
}
