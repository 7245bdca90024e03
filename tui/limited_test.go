package tui

import (
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// A person who may only look gets nothing to an agent, a tab or a call, whatever they type.
func TestAReadOnlyViewChangesNothing(t *testing.T) {
	r := bareHarness(t, Options{Detach: true, Rights: See})
	r.broker.sessions = []broker.Session{{ID: "s1", Tab: 1, Agent: "shell", State: broker.StateIdle}}
	r.send(sizeMsg{40, 10})
	r.send(listedMsg{at: r.now, sessions: r.broker.sessions})
	if len(r.m.tabs) != 1 || len(r.broker.opened) > 0 {
		t.Fatalf("%d tabs, %v opened", len(r.m.tabs), r.broker.opened)
	}
	first := r.m.tabs[0]
	r.onFocused(func(t *tab) { t.attached = true })
	for _, text := range []string{"x", "\r", "\x1b[200~pasted\x1b[201~", "\x1b[I", "\x1b[O", "\x1b[<0;5;5M", "\x1b[<0;5;5m"} {
		r.keys(text)
	}
	var refused []string
	for _, c := range commandTable() {
		r.keys("\x01/" + c.name + "\r")
		if r.m.said().Text != "" {
			refused = append(refused, c.name)
		}
		r.m.leaveCommand()
		r.m.line.Take()
		if !harmless[c.name] && !slices.Contains(refused, c.name) {
			t.Errorf("/%s is not refused", c.name)
		}
	}
	r.keys("\x01do it\r")
	if got := r.queued(1); got != "" || len(r.broker.inputs) > 0 || len(r.broker.opened) > 0 || r.m.quitting {
		t.Errorf("the agent got %q, the broker %v and %v, quitting %t", got, r.broker.inputs, r.broker.opened, r.m.quitting)
	}
	if cols, rows := first.pane.Screen.Size(); cols != wideCols || rows != wideRows {
		t.Errorf("the pane has the size %dx%d of a window that only shows it", cols, rows)
	}
}

// The safe view lists what there is, decides what waits and detaches. It attaches to no agent.
func TestSafeView(t *testing.T) {
	o := demo()
	o.Safe, o.Detach = true, true
	r := newHarness(t, 80, 24, o)
	working := broker.Session{ID: "0123456789", Tab: 2, Agent: "codex", State: broker.StateWorking}
	r.send(listedMsg{r.now, []broker.Session{{ID: "s1", Tab: 1, Agent: "claude-code", State: broker.StateIdle}, working}, nil})
	r.wants("safe view", "claude-code   idle", "codex         working    01234567", "Ctrl-A to decide · /detach leaves")
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
	r.wants("claude-code")
	r.keys("\x01/detach\r")
	if !r.quit || !r.m.detached {
		t.Error("it does not detach")
	}
}
