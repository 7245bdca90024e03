package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// What is typed and pasted before the first tab is known goes to it, in order and once. A
// command works meanwhile.
func TestTypedBeforeTheFirstTab(t *testing.T) {
	type step func(r *harness)
	size := func(r *harness) { r.send(sizeMsg{80, 24}) }
	list := func(r *harness) { r.send(listedMsg{sessions: r.broker.sessions, at: testTime}) }
	types := func(keys string) step { return func(r *harness) { r.keys(keys) } }
	two := []broker.Session{{ID: "a", Tab: 1, Agent: "shell", State: broker.StateIdle}, {ID: "b", Tab: 2, Agent: "shell", State: broker.StateIdle}}
	for name, c := range map[string]struct {
		open  []broker.Session
		show  broker.SessionID
		steps []step
		want  string
	}{
		"nothing is open":      {steps: []step{types("l"), list, types("s"), size, types("\r")}, want: "ls\r"},
		"a tab is open":        {open: two, steps: []step{types("l"), list, types("s"), size, types("\r")}, want: "ls\r"},
		"another is in front":  {open: two, show: "b", steps: []step{types("l"), list, types("s"), size, types("\r")}, want: "ls\r"},
		"a paste":              {steps: []step{types("a\x1b[200~b"), size, types("c\x1b[20"), list, types("1~d")}, want: "abcd"},
		"a command meanwhile":  {steps: []step{types("a\x01/he"), list, size, types("\x15\x1b"), types("b")}, want: "ab"},
		"more than fits":       {steps: []step{types("a\x1b[200~" + strings.Repeat("b", maxTypeAhead) + "\x1b[201~"), list, size, types("c")}, want: "ac"},
		"a release of a key":   {steps: []step{types("\x1b[97;1:1u\x1b[97;1:3u"), list, size}, want: "a"},
		"the size comes first": {open: two, show: "b", steps: []step{size, types("a"), list, types("b")}, want: "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bareHarness(t, Options{Detach: true, Show: c.show})
			r.broker.sessions = c.open
			for _, s := range c.steps {
				s(r)
			}
			for _, x := range r.m.tabs {
				want := ""
				if x == r.m.current() {
					want = c.want
				}
				if got := x.pane.Queue.String(); got != want {
					t.Errorf("tab %d got %.100q, want %q", x.session.Tab, got, want)
				}
			}
			if c.show != "" && r.m.current().session.ID != c.show {
				t.Errorf("%s is in front", r.m.current().session.ID)
			}
		})
	}
}

// What was typed before the person was asked something is no answer to it, and is not sent.
func TestTypedBeforeTheOffer(t *testing.T) {
	r := bareHarness(t, Options{Offer: func(context.Context) bool { return true }, Agent: "shell"})
	r.broker.stored = []broker.StoredSession{{Session: broker.Session{ID: "a", Agent: "shell"}, Detached: true}}
	r.keys("x")
	r.send(sizeMsg{80, 24})
	r.wants("still run")
	r.keys("\x1b")
	if got := r.queued(1); got != "" {
		t.Errorf("the first tab got %q", got)
	}
}
