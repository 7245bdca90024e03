package tui

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The safe view lists what there is, decides what waits and detaches. It attaches to no agent.
func TestSafeView(t *testing.T) {
	o := demo()
	o.Safe, o.Detach = true, true
	r := newHarness(t, 80, 24, o)
	working := broker.Session{ID: "0123456789", Tab: 2, Agent: "codex", State: broker.StateWorking}
	r.send(listedMsg{r.now, []broker.Session{{ID: "s1", Tab: 1, Agent: "claude-code", State: broker.StateIdle}, working}, nil})
	r.wants("safe view", "1  claude-code   idle", "2  codex         working    01234567", "Ctrl-A to decide · /detach leaves")
	if len(r.m.tabs) > 0 || len(r.broker.opened) > 0 || len(r.broker.terminals()) > 0 {
		t.Fatal("it has tabs")
	}
	r.escalate(1, `{"path":"/etc/hosts"}`, "")
	r.keys("\x01")
	r.look()
	for _, refused := range []string{"/new\r", "hello\r"} {
		r.keys(refused)
		r.wants("the safe view only has /approve")
		r.keys("\x15")
	}
	r.look()
	r.keys("/approve\r")
	r.decided(1)
	working.State = broker.StateClosed
	r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &working}})
	r.wants("1  claude-code")
	r.keys("\x01/detach\r")
	if !r.quit || !r.m.detached {
		t.Error("it does not detach")
	}
}
