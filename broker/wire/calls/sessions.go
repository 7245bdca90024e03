package calls

import (
	"context"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Scope limits what a client with wire.Answer may do.
type Scope struct {
	Sessions []broker.SessionID // whose calls the client sees and decides
	DenyOnly bool               // the client may only deny
	Until    time.Time          // when the client may do nothing any more
}

// scoped is a broker that is limited to a scope.
type scoped struct {
	broker.Calls
	scope Scope
}

// Within limits the methods that wire.Answer allows to a scope. It does not limit the other methods:
// serve the result only to clients with wire.Answer.
func Within(api broker.Calls, s Scope) broker.Calls { return scoped{api, s} }

// checkTime returns an error when the scope has expired.
func (s scoped) checkTime() error {
	if time.Now().Before(s.scope.Until) {
		return nil
	}
	return fault.New("'ironcurtain-mux tokens create' makes another token", "this token has expired")
}

// Pending lists the waiting calls of the scope's sessions.
func (s scoped) Pending(ctx context.Context) ([]broker.Escalation, error) {
	if err := s.checkTime(); err != nil {
		return nil, err
	}
	list, err := s.Calls.Pending(ctx)
	return slices.DeleteFunc(list, func(e broker.Escalation) bool { return !slices.Contains(s.scope.Sessions, e.Session) }), err
}

// Decide decides a waiting call of the scope's sessions. For every other call the error is the same,
// so that it does not say whether a call of another session exists.
func (s scoped) Decide(ctx context.Context, d broker.Decision) (broker.Resolution, error) {
	if d.Approve && s.scope.DenyOnly {
		return broker.Resolution{}, fault.New("leave it to the person", "this client may only deny")
	}
	list, err := s.Pending(ctx)
	if err != nil {
		return broker.Resolution{}, err
	}
	if !slices.ContainsFunc(list, func(e broker.Escalation) bool { return e.ID == d.ID }) {
		return broker.Resolution{}, fault.New("'ironcurtain-mux pending' lists the calls", "no call with this id waits for this client")
	}
	return s.Calls.Decide(ctx, d)
}

// Subscribe streams the events about waiting calls of the scope's sessions.
func (s scoped) Subscribe(ctx context.Context) (<-chan broker.Event, error) {
	if err := s.checkTime(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, s.scope.Until)
	all, err := s.Calls.Subscribe(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	some := make(chan broker.Event) // drops nothing; the reader ends it by ctx
	go func() {
		defer cancel()
		defer close(some)
		for ev := range all {
			if !s.has(ev) {
				continue
			}
			select {
			case some <- ev:
			case <-ctx.Done(): // the broker closes all
			}
		}
	}()
	return some, nil
}

// has reports whether an event is about a waiting call of the scope's sessions.
func (s scoped) has(ev broker.Event) bool {
	switch ev.Kind {
	case broker.EventEscalation:
		return slices.Contains(s.scope.Sessions, ev.Escalation.Session)
	case broker.EventResolution:
		return slices.Contains(s.scope.Sessions, ev.Resolution.Session)
	default:
		return false
	}
}
