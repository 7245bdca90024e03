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
		if r.m.flash.text != "" {
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
	if first.pane.UsedElsewhere() {
		t.Error("somebody uses the pane")
	}
	if cols, rows := first.pane.Screen.Size(); cols != wideCols || rows != wideRows {
		t.Errorf("the pane has the size %dx%d of a window that only shows it", cols, rows)
	}
}
