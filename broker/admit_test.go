package broker

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// admitting is a broker with room for one session, and a session that has it.
func admitting(t *testing.T) (*Broker, *session.Session) {
	t.Helper()
	b, err := New(Config{Home: shortTemp(t), Agents: agent.Builtin(), DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Shutdown(context.WithoutCancel(t.Context())) })
	return b, admitted(t, b, OpenRequest{}, "")
}

// admitted asks for a session, which is not started, and expects an error that contains
// refusal, or none if that is empty.
func admitted(t *testing.T, b *Broker, r OpenRequest, refusal string) *session.Session {
	t.Helper()
	r.Agent = "shell"
	s, err := session.New(b.deps(), r)
	if r.Resume != "" {
		s, err = session.Resume(b.deps(), r)
	}
	if err != nil {
		t.Fatal(err)
	}
	switch _, err := b.admit(s, OpenRequest{}); {
	case refusal == "" && err != nil:
		t.Fatal(err)
	case refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)):
		t.Fatalf("%v, want %q", err, refusal)
	case refusal == "":
		t.Cleanup(func() { ended(s) })
	}
	return s
}

// ended starts a session that was asked to stop before, and waits until it has.
func ended(s *session.Session) {
	if !s.Over() {
		s.Stop()
		s.Run()
	}
}

// A session that replaces another one does not count beside it, once, and starts when the
// other one has ended.
func TestASessionThatReplacesAnotherNeedsNoRoom(t *testing.T) {
	b, old := admitting(t)
	replacing := OpenRequest{Replaces: old.ID()}
	admitted(t, b, OpenRequest{}, "one session runs already")
	admitted(t, b, OpenRequest{Replaces: "0123456789abcdef0123456789abcdef"}, "one session runs already")
	by := admitted(t, b, replacing, "")
	admitted(t, b, replacing, "already replaces that one")
	admitted(t, b, OpenRequest{}, "2 sessions run already")
	if !by.AwaitsPlace() {
		t.Error("it does not wait for the other one")
	}
	ended(old)
	if by.AwaitsPlace() {
		t.Error("it waits for one that has ended")
	}
	admitted(t, b, OpenRequest{}, "one session runs already")

	// The one that ended may be resumed and be replaced once more.
	ended(by)
	admitted(t, b, OpenRequest{Resume: old.ID()}, "")
	admitted(t, b, replacing, "")
}
