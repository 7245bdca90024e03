package broker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ErrNotAlone is returned by Open for a request that must be the first, when there is a session
// already.
var ErrNotAlone = errors.New("open session: there is one already")

// hasFirst reports whether there is a session with a terminal, or, with a profile, one that has
// this profile and has not ended. The caller holds mu.
func (b *Broker) hasFirst(p Profile) bool {
	return slices.ContainsFunc(b.sessions, func(s *session.Session) bool {
		return b.inBar(s) && (p.IsZero() || s.Profile().Same(p) && !s.Over())
	})
}

// admit gives the session its place in the bar. It fails if too many sessions run already, or if
// the request must be the first and is not. A session that this one replaces is not counted. A
// session that another process has handed over keeps its life. admit returns the sessions whose
// places have changed; the caller announces them.
func (b *Broker) admit(s *session.Session, r OpenRequest) (moved []*session.Session, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("open session: the multiplexer is closing")
	}
	if b.calmed {
		return nil, fault.New("try again in a moment", "open session: the multiplexer is being upgraded")
	}
	if r.First && b.hasFirst(s.Profile()) {
		return nil, ErrNotAlone
	}
	running, after := 0, (<-chan struct{})(nil)
	for _, other := range b.sessions {
		switch {
		case other.Over():
		case s.Replaces() != "" && other.Replaces() == s.Replaces() && other.AwaitsPlace():
			return nil, fault.New("wait until session "+other.ShortID()+" runs", "open session: session %s already replaces that one", other.ShortID())
		case s.Replaces() != "" && other.ID() == s.Replaces():
			after = other.Ended()
		default:
			running++
		}
	}
	if running >= b.settings.Load().config.MaxSessions {
		run := "one session runs"
		if running > 1 {
			run = fmt.Sprintf("%d sessions run", running)
		}
		return nil, fault.New("close one with /close, or raise maxSessions in config.json", "open session: %s already", run)
	}
	if r.Kept != nil {
		s.Place(r.Kept.Life, nil)
	} else {
		b.lives++
		s.Place(b.lives, after)
	}
	b.insert(s)
	return b.number(), nil
}
