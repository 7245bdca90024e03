package broker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// admitting is a broker with room for one session, and a session that has it.
func admitting(t *testing.T) (*Broker, *session) {
	t.Helper()
	b, err := New(Config{Home: shortTemp(t), Agents: agent.Builtin(), DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Shutdown(context.WithoutCancel(t.Context())) })
	return b, admitted(t, b, "", "")
}

// admitted asks for a session, which never runs, and wants an error that says so much.
func admitted(t *testing.T, b *Broker, replaces SessionID, refusal string) *session {
	t.Helper()
	s, err := newSession(b.deps(), OpenRequest{Agent: "shell"})
	if err != nil {
		t.Fatal(err)
	}
	s.replaces = replaces
	_, s.cancel = context.WithCancel(t.Context())
	switch err := b.admit(s); {
	case refusal == "" && err != nil:
		t.Fatal(err)
	case refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)):
		t.Fatalf("%v, want %q", err, refusal)
	case refusal == "":
		t.Cleanup(func() {
			if !s.Over() {
				close(s.finished)
			}
		})
	}
	return s
}

// A session that takes the place of another one needs no room beside it, once, and
// begins when that one has ended.
func TestASessionThatReplacesAnotherNeedsNoRoom(t *testing.T) {
	b, old := admitting(t)
	admitted(t, b, "", "one session runs already")
	admitted(t, b, "0123456789abcdef0123456789abcdef", "one session runs already")
	by := admitted(t, b, old.fixed.ID, "")
	admitted(t, b, old.fixed.ID, "tab 2 takes the place of that session already")
	admitted(t, b, "", "2 sessions run already")

	waited := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { waited <- by.awaitPlace(ctx) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if by.after == nil || !by.AwaitsPlace() {
		t.Error("it does not wait for the other one")
	}
	close(old.finished)
	if err := by.awaitPlace(t.Context()); err != nil || by.AwaitsPlace() {
		t.Errorf("it waits for one that has ended: %v", err)
	}
	admitted(t, b, "", "one session runs already")

	// The one that ended may be resumed and be replaced once more.
	close(by.finished)
	again := admitted(t, b, "", "")
	again.fixed.ID = old.fixed.ID
	admitted(t, b, old.fixed.ID, "")
}
