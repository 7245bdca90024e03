package notify

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// scene is a broker that a test plays, and what is told of it.
type scene struct {
	*testing.T
	n        *Notifier
	events   chan broker.Event
	sessions []broker.Session
	pending  []broker.Escalation
	looked   broker.SessionID // whose tab somebody looks at
	muted    broker.SessionID
	on       []string
}

func (s *scene) Follow(context.Context) <-chan broker.Event {
	s.events = make(chan broker.Event, 100)
	return s.events
}

func (s *scene) Sessions(context.Context) ([]broker.Session, error)   { return s.sessions, nil }
func (s *scene) Pending(context.Context) ([]broker.Escalation, error) { return s.pending, nil }

// play follows the broker during a test, in which time is simulated.
func play(t *testing.T, test func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, sessions: []broker.Session{{ID: "s1", Tab: 1, Agent: "codex", State: broker.StateWorking}}}
		s.n = &Notifier{
			Broker: s, queue: make(chan note, 100),
			Settings: func() (argv, on []string) { return []string{"command"}, s.on },
			Looked:   func(id broker.SessionID) bool { return id == s.looked },
			Muted:    func(id broker.SessionID) bool { return id == s.muted },
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.n.follow(ctx) }()
		synctest.Wait()
		test(s)
		cancel()
		close(s.events)
		<-ended
	})
}

// told checks what was told since the last time.
func (s *scene) told(when string, want ...string) {
	s.Helper()
	synctest.Wait()
	var got []string
	for len(s.n.queue) > 0 {
		n := <-s.n.queue
		got = append(got, string(n.what)+" "+n.session.Agent+": "+n.text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("%s: %s", when, diff)
	}
}

func (s *scene) state(id string, state broker.SessionState, code int) {
	s.events <- broker.Event{Kind: broker.EventSession, Session: &broker.Session{
		ID: id, Tab: 1, Agent: "codex", State: state, ExitCode: code, Reason: "/home/x/secret", NoTerminal: id == "task",
	}}
	synctest.Wait()
}

func (s *scene) call(e broker.Escalation) {
	e.Number, e.Server = 3, "host"
	s.events <- broker.Event{Kind: broker.EventEscalation, Escalation: &e}
	synctest.Wait()
}

// An agent is done when it has been idle for a moment and nobody looks at it.
func TestAgents(t *testing.T) {
	play(t, func(s *scene) {
		s.state("s1", broker.StateIdle, 0)
		<-time.After(Settle / 2)
		s.state("s1", broker.StateWorking, 0)
		<-time.After(Settle)
		s.told("a pause between two steps")
		s.state("s1", broker.StateIdle, 0)
		<-time.After(Settle / 2)
		s.state("s1", broker.StateIdle, 0) // something else about it has changed
		<-time.After(Settle / 2)
		s.told("it is done", "done codex: done")
		<-time.After(time.Hour)
		s.looked = "s1"
		s.state("s1", broker.StateWorking, 0)
		s.state("s1", broker.StateIdle, 0)
		<-time.After(Settle)
		s.told("it is looked at")
		s.state("s1", broker.StateDead, 3)
		s.told("it has ended", "dead codex: ended with exit code 3")
		s.state("s2", broker.StateStarting, 0)
		s.state("s2", broker.StateClosed, 0)
		s.told("the person has closed it")
		s.state("task", broker.StateWorking, 0)
		s.state("task", broker.StateDead, 0)
		s.told("a task has ended")
		s.on = []string{"done"}
		s.state("s3", broker.StateWorking, 0)
		s.state("s3", broker.StateDead, 0)
		s.told("it is not wanted")
	})
}

// A call is told of when it begins to wait and when half of its time is over, however often it
// changes, and without the path of a model request.
func TestCalls(t *testing.T) {
	play(t, func(s *scene) {
		e := broker.Escalation{ID: "a", Session: "s1", Plane: "http", Tool: "POST /v1/secret"}
		s.call(e)
		e.More = 7
		s.call(e)
		s.told("it waits", "escalation codex: approval #3: host/POST")
		e.HalfOver = true
		s.call(e)
		s.call(e)
		s.told("half of its time is over", "escalation codex: approval #3 still waits: host/POST")
		s.call(broker.Escalation{ID: "b", Session: "s1", Tool: "save", Restored: true})
		s.told("it has waited in a former process")
		s.call(broker.Escalation{ID: "b", Session: "s1", Tool: "save", Restored: true, HalfOver: true})
		s.told("half of that one's time is over", "escalation codex: approval #3 still waits: host/save")
	})
}

// When the notifier has fallen behind, what has changed is told once.
func TestFallingBehind(t *testing.T) {
	play(t, func(s *scene) {
		s.call(broker.Escalation{ID: "a", Session: "s1", Tool: "save"})
		s.told("it waits", "escalation codex: approval #3: host/save")
		s.sessions[0].State = broker.StateDead
		s.pending = []broker.Escalation{{ID: "a", Session: "s1", Number: 3, Server: "host", Tool: "save"}, {ID: "b", Session: "s1", Number: 4, Server: "host", Tool: "load"}}
		close(s.events)
		<-time.After(again)
		s.told("it lists anew", "dead codex: ended", "escalation codex: approval #4: host/load")
	})
}

// Of a session that is muted nothing is told.
func TestAMutedSession(t *testing.T) {
	play(t, func(s *scene) {
		s.muted = "s1"
		s.call(broker.Escalation{ID: "a", Session: "s1", Tool: "save"})
		s.told("muted")
		s.call(broker.Escalation{ID: "b", Session: "s2", Tool: "save"})
		s.told("another session", "escalation : approval #3: host/save")
		s.muted = ""
		s.call(broker.Escalation{ID: "a", Session: "s1", Tool: "save", HalfOver: true})
		s.told("muted no more", "escalation codex: approval #3 still waits: host/save")
	})
}
