// Package notify notifies a person who may be looking elsewhere of events in the daemon. It runs the
// person's command once for each occasion, however many views there are. A waiting call is an
// occasion twice: when it begins to wait, and when half of its time is over.
package notify

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Settle is how long an agent must have been idle to count as done. Agents also pause for a moment
// between two steps of their work.
const Settle = 2 * time.Second

// again is how long to wait before following the broker again.
const again = time.Second

// Broker is what a Notifier asks the broker for.
type Broker interface {
	// Follow streams events from now on. The channel closes when ctx ends, or when its reader falls
	// behind; the reader then follows and lists everything again.
	Follow(ctx context.Context) <-chan broker.Event
	Sessions(ctx context.Context) ([]broker.Session, error)
	Pending(ctx context.Context) ([]broker.Escalation, error)
}

// Notifier follows the broker, and runs the person's command.
type Notifier struct {
	Broker Broker
	// Settings returns the configured command with its arguments, and the occasions on which it is
	// run. Without a command, none is run; without occasions, it is run on all.
	Settings func() (argv, on []string)
	// Tell shows the person why the command has failed.
	Tell func(text string)
	// Looked reports whether somebody is probably looking at the tab of a session.
	Looked func(broker.SessionID) bool
	// Muted reports whether the person has muted a session.
	Muted func(broker.SessionID) bool

	limit time.Duration // of a command; 0: commandTime
	queue chan note     // to the goroutine that runs the command; maxNotes, lossy

	sessions map[broker.SessionID]*agent
	waiting  map[string]bool // the waiting calls of which the person was notified; true: also at half of their time
}

// agent is the last known state of a session.
type agent struct {
	broker.Session
	idle time.Time // since when the agent may be done; zero: it works, or the person was notified
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
				n.onEvent(e)
			case <-n.nextDone():
			}
			n.notifyDone()
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// list handles the broker's whole state.
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
		n.onSession(s)
	}
	for id := range n.waiting {
		if !slices.ContainsFunc(pending, func(e broker.Escalation) bool { return e.ID == id }) {
			delete(n.waiting, id)
		}
	}
	for _, e := range pending {
		n.onCall(e)
	}
}

// onEvent handles one event.
func (n *Notifier) onEvent(e broker.Event) {
	switch e.Kind {
	case broker.EventSession:
		n.onSession(*e.Session)
	case broker.EventEscalation:
		n.onCall(*e.Escalation)
	case broker.EventResolution:
		delete(n.waiting, e.Resolution.ID)
	}
}

// onCall notifies of a waiting call, and again when half of its time is over. It does not notify of a
// call that waited in a former process, which has done so.
func (n *Notifier) onCall(e broker.Escalation) {
	half, known := n.waiting[e.ID]
	n.waiting[e.ID] = half || e.HalfOver
	if !known && !e.Restored || known && e.HalfOver && !half {
		s := broker.Session{ID: e.Session, Agent: e.Agent}
		if a := n.sessions[e.Session]; a != nil {
			s = a.Session
		}
		n.notify(note{Escalated, s, Call(e)})
	}
}

// onSession notes the state of a session, and notifies when its agent has ended.
func (n *Notifier) onSession(s broker.Session) {
	was := n.sessions[s.ID]
	if s.State == broker.StateClosed {
		delete(n.sessions, s.ID)
		return
	}
	now := &agent{Session: s}
	n.sessions[s.ID] = now
	switch {
	case was == nil || s.NoTerminal: // the person who gave a task gets its answer, and no notification
	case was.State == s.State:
		now.idle = was.idle
	case s.State == broker.StateDead:
		n.notify(note{Dead, s, ended(s)})
	case s.State == broker.StateIdle && was.State == broker.StateWorking:
		now.idle = time.Now()
	}
}

// nextDone returns a channel that gets a value when the next agent counts as done; nil: none will.
func (n *Notifier) nextDone() <-chan time.Time {
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

// notifyDone notifies of each agent that is done, unless somebody is looking at its tab.
func (n *Notifier) notifyDone() {
	for _, a := range n.sessions {
		if !a.idle.IsZero() && time.Since(a.idle) >= Settle {
			if a.idle = (time.Time{}); !n.Looked(a.ID) {
				n.notify(note{Done, a.Session, "done"})
			}
		}
	}
}

// notify queues a notification for the command, if the person wants it. It drops the notification when
// too many wait. It never blocks.
func (n *Notifier) notify(next note) {
	argv, on := n.Settings()
	if n.Muted(next.session.ID) || len(argv) == 0 || len(on) > 0 && !slices.Contains(on, string(next.what)) {
		return
	}
	select {
	case n.queue <- next:
	default:
	}
}
