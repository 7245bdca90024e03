// Package notify tells a person who may be looking elsewhere of what happens in the daemon. It runs
// the person's command, once for each occasion, for all views together and also without any. A call
// that waits is an occasion twice: when it begins to wait, and when half of its time is over.
package notify

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Settle is how long an agent must have been idle to count as done, because it pauses for a moment
// between two steps of its work.
const Settle = 2 * time.Second

// again is how long to wait before following the broker again.
const again = time.Second

// Broker is what a Notifier asks the broker for.
type Broker interface {
	// Follow streams events from now on. The channel closes when ctx ends, or when its reader falls
	// behind; then everything is listed anew.
	Follow(ctx context.Context) <-chan broker.Event
	Sessions(ctx context.Context) ([]broker.Session, error)
	Pending(ctx context.Context) ([]broker.Escalation, error)
}

// Notifier follows the broker, and runs the person's command.
type Notifier struct {
	Broker Broker
	// Settings returns the command with its arguments, as the configuration is now, and on which
	// occasions it is run; no command: never, no occasions: on all.
	Settings func() (argv, on []string)
	// Tell shows the person a text, here why a command has failed.
	Tell func(text string)
	// Looked reports whether somebody is probably looking at the tab of a session.
	Looked func(broker.SessionID) bool
	// Muted reports whether the person has muted a session, so that nothing is told of it.
	Muted func(broker.SessionID) bool

	limit time.Duration // of a command; 0: commandTime
	queue chan note     // to the goroutine that runs the command; maxNotes, lossy

	sessions map[broker.SessionID]*agent
	waiting  map[string]bool // the calls that were told of; true: also that half of their time is over
}

// agent is a session as it was last, and since when its agent may be done; zero: it is not.
type agent struct {
	broker.Session
	idle time.Time
}

// Run notifies the person until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	if n.limit == 0 {
		n.limit = commandTime
	}
	n.queue = make(chan note, maxNotes)
	var commands sync.WaitGroup
	defer commands.Wait()
	commands.Go(func() { n.runCommands(ctx) })
	n.follow(ctx)
}

// follow follows the broker until ctx ends.
func (n *Notifier) follow(ctx context.Context) {
	n.sessions, n.waiting = map[broker.SessionID]*agent{}, map[string]bool{}
	for ctx.Err() == nil {
		events := n.Broker.Follow(ctx)
		n.list(ctx)
		for open := true; open; {
			var e broker.Event
			select {
			case e, open = <-events:
				n.take(e)
			case <-n.settled():
			}
			n.finish()
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// list takes over the broker's whole state.
func (n *Notifier) list(ctx context.Context) {
	sessions, err := n.Broker.Sessions(ctx)
	pending, failed := n.Broker.Pending(ctx)
	if err != nil || failed != nil {
		return // they fail only when ctx has ended
	}
	for id := range n.sessions {
		if !slices.ContainsFunc(sessions, func(s broker.Session) bool { return s.ID == id }) {
			delete(n.sessions, id)
		}
	}
	for _, s := range sessions {
		n.session(s)
	}
	for id := range n.waiting {
		if !slices.ContainsFunc(pending, func(e broker.Escalation) bool { return e.ID == id }) {
			delete(n.waiting, id)
		}
	}
	for _, e := range pending {
		n.call(e)
	}
}

// take notes one event.
func (n *Notifier) take(e broker.Event) {
	switch e.Kind {
	case broker.EventSession:
		n.session(*e.Session)
	case broker.EventEscalation:
		n.call(*e.Escalation)
	case broker.EventResolution:
		delete(n.waiting, e.Resolution.ID)
	}
}

// call tells of a call that waits, and again when half of its time is over. Of a call that has
// waited in a former process, the person was told there.
func (n *Notifier) call(e broker.Escalation) {
	half, known := n.waiting[e.ID]
	n.waiting[e.ID] = half || e.HalfOver
	if !known && !e.Restored || known && e.HalfOver && !half {
		s := broker.Session{ID: e.Session, Agent: e.Agent}
		if a := n.sessions[e.Session]; a != nil {
			s = a.Session
		}
		n.tell(note{Escalated, s, Call(e)})
	}
}

// session notes the state of a session, and tells that its agent has ended.
func (n *Notifier) session(s broker.Session) {
	was := n.sessions[s.ID]
	if s.State == broker.StateClosed {
		delete(n.sessions, s.ID)
		return
	}
	now := &agent{Session: s}
	n.sessions[s.ID] = now
	switch {
	case was == nil || s.NoTerminal: // whoever gave a task gets its answer
	case was.State == s.State:
		now.idle = was.idle
	case s.State == broker.StateDead:
		n.tell(note{Dead, s, ended(s)})
	case s.State == broker.StateIdle && was.State == broker.StateWorking:
		now.idle = time.Now()
	}
}

// settled returns a channel that has a value when the next agent counts as done; nil: none will.
func (n *Notifier) settled() <-chan time.Time {
	var first time.Time
	for _, a := range n.sessions {
		if !a.idle.IsZero() && (first.IsZero() || a.idle.Before(first)) {
			first = a.idle
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(time.Until(first.Add(Settle)))
}

// finish tells of the agents that are done, unless somebody is looking.
func (n *Notifier) finish() {
	for _, a := range n.sessions {
		if !a.idle.IsZero() && time.Since(a.idle) >= Settle {
			if a.idle = (time.Time{}); !n.Looked(a.ID) {
				n.tell(note{Done, a.Session, "done"})
			}
		}
	}
}

// tell has the command run, if it is wanted, or drops the notification when too many wait. It never
// blocks.
func (n *Notifier) tell(next note) {
	argv, on := n.Settings()
	if n.Muted(next.session.ID) || len(argv) == 0 || len(on) > 0 && !slices.Contains(on, string(next.what)) {
		return
	}
	select {
	case n.queue <- next:
	default:
	}
}
