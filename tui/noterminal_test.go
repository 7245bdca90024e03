package tui

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// A session without a terminal has no tab: a view opens its first one beside it. Its calls that
// wait are shown all the same.
func TestASessionWithoutATerminalHasNoTab(t *testing.T) {
	r := bareHarness(t, Options{Detach: true})
	task := broker.Session{ID: "a", Tab: 1, Agent: "shell", State: broker.StateWorking, NoTerminal: true}
	r.broker.sessions = []broker.Session{task}
	r.send(listedMsg{sessions: r.broker.sessions, at: testTime})
	r.send(sizeMsg{80, 24})
	if len(r.broker.opened) != 1 || len(r.m.tabs) != 1 || r.m.tabOf("a") != nil {
		t.Fatalf("opened %+v, %d tabs", r.broker.opened, len(r.m.tabs))
	}
	r.send(brokerMsg{broker.Event{Session: &task}})
	e := broker.Escalation{ID: "e", Number: 1, Session: "a", Server: "git", Tool: "git_push"}
	r.send(brokerMsg{broker.Event{Escalation: &e}})
	if len(r.m.tabs) != 1 || len(r.m.approvals.Items) != 1 {
		t.Errorf("%d tabs, %d calls wait", len(r.m.tabs), len(r.m.approvals.Items))
	}
	r.wants("1 waiting")

	r.broker.stored = []broker.StoredSession{{Session: task, Owned: true}}
	r.keys("\x01/resume\r")
	r.wants("without a terminal")
	r.keys("\r")
	if len(r.broker.opened) != 1 || !strings.Contains(r.m.said().Text, "has no terminal") {
		t.Errorf("opened %+v: %q", r.broker.opened, r.m.said().Text)
	}
}
