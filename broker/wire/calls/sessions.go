package calls

import (
	"context"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Scope narrows what a client with wire.Answer may do.
type Scope struct {
	Sessions []broker.SessionID // whose calls it sees and decides
	DenyOnly bool               // it approves none of them
	Until    time.Time          // it may do nothing from then on
}

// scoped is a broker within a scope.
type scoped struct {
	broker.Calls
	scope Scope
}

// Within limits what wire.Answer allows to a scope. The other methods are as they were: serve the
// result to nobody with another right.
func Within(api broker.Calls, s Scope) broker.Calls { return scoped{api, s} }

// over returns an error when the time of the scope is over.
func (s scoped) over() error {
	if time.Now().Before(s.scope.Until) {
		return nil
	}
	return fault.New("'ironcurtain-mux tokens create' makes another one", "the time of this token is over")
}

// Pending lists what waits of the sessions.
func (s scoped) Pending(ctx context.Context) ([]broker.Escalation, error) {
	if err := s.over(); err != nil {
		return nil, err
	}
	list, err := s.Calls.Pending(ctx)
	return slices.DeleteFunc(list, func(e broker.Escalation) bool { return !slices.Contains(s.scope.Sessions, e.Session) }), err
}

// Decide decides a call of the sessions that waits. Of one that does not wait any more nobody is
// told whose it was.
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

// Subscribe streams what happens to waiting calls of the sessions.
func (s scoped) Subscribe(ctx context.Context) (<-chan broker.Event, error) {
	if err := s.over(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, s.scope.Until)
	all, err := s.Calls.Subscribe(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	some := make(chan broker.Event) // loses nothing; its reader ends it by ctx
	go func() {
		defer cancel()
		defer close(some)
		for ev := range all {
			if !s.has(ev) {
				continue
			}
			select {
			case some <- ev:
			case <-ctx.Done(): // all is closed then
			}
		}
	}()
	return some, nil
}

// has reports whether an event is about a waiting call of the sessions.
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
