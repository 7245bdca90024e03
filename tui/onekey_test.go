package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// focusCall opens the panel, looks at the call shown, goes to it with Tab, and waits.
func (r *harness) focusCall() {
	r.keys("\x01")
	r.look()
	r.keys("\t")
	r.now = r.now.Add(panel.MinAge)
}

func TestOneKeyDecides(t *testing.T) {
	for name, one := range map[string]struct {
		keys    string
		approve bool
	}{
		"y":                 {"y", true},
		"n":                 {"n", false},
		"chosen to approve": {"\x1b[D|\r", true},
		"chosen to deny":    {"\x1b[D|\x1b[C|\r", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 80, 24, demo())
			e := r.escalate(3, `{"path":"/tmp/b"}`, "")
			r.focusCall()
			r.wants(" y approve ", " n deny", "y approves · n denies")
			for key := range strings.SplitSeq(one.keys, "|") {
				r.keys(key)
				r.now = r.now.Add(panel.MinAge)
			}
			r.decided(1)
			d := r.broker.decisions()[0]
			if d.ID != e.ID || d.Digest != e.Digest || d.Approve != one.approve || d.By != broker.ByKey || d.Client != r.m.o.Client {
				t.Errorf("decision %+v", d)
			}
			if r.m.mode != modeTerminal {
				t.Error("the agent did not get the keyboard back")
			}
		})
	}
}

// Whoever begins to type to the agent, or has not gone to the panel, decides nothing.
func TestLettersAreTextBeforeTab(t *testing.T) {
	for name, typed := range map[string]string{
		"no":                   "no, not there",
		"yes":                  "yes please",
		"y after looking":      "\x1b[B\x1b[A\x1b[6~y",
		"with a line begun":    "x\t|y",
		"a paste":              "\t|\x1b[200~y\x1b[201~",
		"typed after Tab":      "\t|/|y",
		"another letter first": "\t|s|y",
		"closed and opened":    "\t|\x1b|\x01|y",
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 80, 24, demo())
			r.escalate(1, `{"path":"/tmp/b"}`, "")
			r.keys("\x01")
			r.look()
			for part := range strings.SplitSeq(typed, "|") {
				r.keys(part)
				r.look()
			}
			r.decided(0)
			if r.m.line.Empty() {
				t.Error("the text is not on the line")
			}
		})
	}
}

// Nothing decides that the person may not have seen, or may not have meant.
func TestOneKeyDecidesNothingElse(t *testing.T) {
	later := func(r *harness) { r.now = r.now.Add(time.Second) }
	for name, attack := range map[string]func(r *harness){
		"a key right behind Tab": func(r *harness) { r.keys("\t"); r.keys("y") },
		"a paste without marks":  func(r *harness) { r.keys("\ty\r\ty\r") },
		"typed before it was shown": func(r *harness) {
			r.m.approvals.Hide()
			r.keys("\t")
			later(r)
			r.keys("y")
		},
		"a key that is held down": func(r *harness) {
			r.keys("\t")
			later(r)
			r.keys("\x1b[121;1:2u")
		},
		"a key that is held down, of which the terminal says nothing": func(r *harness) {
			r.keys("\t")
			r.keys("y")
			r.now = r.now.Add(660 * time.Millisecond)
			for range 10 {
				r.keys("y")
				r.now = r.now.Add(30 * time.Millisecond)
			}
		},
		"Enter alone": func(r *harness) { r.keys("\t"); later(r); r.keys("\r") },
		"Enter on the line": func(r *harness) {
			r.keys("\r")
		},
		"the call goes away": func(r *harness) {
			r.keys("\t")
			r.escalate(2, `{"path":"/etc/shadow"}`, "")
			later(r)
			r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Withdrawn}}})
			r.look()
			r.keys("y")
		},
		"the call goes away, chosen": func(r *harness) {
			r.keys("\t")
			r.escalate(2, `{"path":"/etc/shadow"}`, "")
			later(r)
			r.keys("\x1b[D")
			r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Withdrawn}}})
			r.look()
			r.keys("\r")
		},
		"another call of its number": func(r *harness) {
			r.keys("\t")
			e := escalation(1, `{"path":"/etc/shadow"}`, "")
			e.Digest = "another"
			later(r)
			r.m.approvals.Replace([]broker.Escalation{e})
			r.send(changedMsg{})
			r.look()
			r.keys("y")
		},
		"its rows change": func(r *harness) {
			r.keys("\t")
			later(r)
			e := escalation(1, `{"path":"/tmp/b"}`, "")
			e.Auto = &broker.AutoReview{Receipt: 1, Reason: "unclear"}
			r.send(brokerMsg{broker.Event{Kind: broker.EventEscalation, Escalation: &e}})
			r.look()
			r.keys("y")
		},
		"the window changes": func(r *harness) {
			r.keys("\t")
			later(r)
			r.send(sizeMsg{70, 20})
			r.look()
			r.keys("y")
		},
		"the window is too small": func(r *harness) {
			r.keys("\t")
			later(r)
			r.send(sizeMsg{10, 3})
			later(r)
			r.keys("\t")
			later(r)
			r.keys("y")
		},
		"stopped and continued": func(r *harness) {
			r.keys("\t")
			later(r)
			r.send(continuedMsg{})
			r.look()
			r.keys("y")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 80, 24, demo())
			r.escalate(1, `{"path":"/tmp/b"}`, "")
			r.keys("\x01")
			r.look()
			attack(r)
			r.decided(0)
		})
	}
}

// A call that does not fit is approved with one key only after all of it was shown, as with a command.
func TestOneKeyNeedsAllRows(t *testing.T) {
	for _, size := range [][2]int{{20, 6}, {40, 10}} {
		r := newHarness(t, size[0], size[1], demo())
		r.escalate(1, twoArguments, asWritten)
		r.focusCall()
		r.wants("y approve", "n deny")
		r.keys("y")
		r.decided(0)
		for range 80 {
			r.paint()
			r.keys("\x1b[B")
		}
		r.look()
		r.keys("y")
		r.decided(1)
	}
}

// Each of two calls needs a Tab of its own: a key that is held down decides one.
func TestOneKeyDecidesOneCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{"path":"/tmp/a"}`, "")
	r.escalate(2, `{"path":"/tmp/b"}`, "")
	r.focusCall()
	r.wants("approval 1/2", "next")
	for range 5 {
		r.keys("y")
		r.look()
	}
	r.decided(1)
	if r.m.mode != modeCommand {
		t.Fatal("the panel is closed although a call waits")
	}
	r.keys("\x15")
	r.look()
	r.keys("\t")
	r.look()
	r.keys("n")
	r.decided(2)
	if d := r.broker.decisions()[1]; d.ID != "e2" || d.Approve {
		t.Errorf("decision %+v", d)
	}
}

// Tab goes to the call shown, and then to the next one.
func TestTabGoesThroughTheCalls(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{"path":"/tmp/a"}`, "")
	r.escalate(2, `{"path":"/tmp/b"}`, "")
	r.focusCall()
	r.wants("approval 1/2")
	r.keys("\t")
	r.wants("approval 2/2", " y approve ")
	r.keys("y") // too early
	r.decided(0)
	r.look()
	r.look()
	r.keys("y")
	r.decided(1)
	if d := r.broker.decisions()[0]; d.ID != "e2" {
		t.Errorf("decided %s", d.ID)
	}
}

func TestOneKeyNeedsTheRight(t *testing.T) {
	o := demo()
	o.Rights = See
	r := newHarness(t, 80, 24, o)
	r.escalate(1, `{"path":"/tmp/a"}`, "")
	r.focusCall()
	r.keys("y")
	r.decided(0)
	r.wants("read-only")
}

// The key that has decided is held down for a while. No agent and no line gets what the terminal sends
// for that, and the agent gets every other key, and the same one once it is pressed anew.
func TestTheKeyThatDecidedIsNotTyped(t *testing.T) {
	for name, one := range map[string]struct{ held, then, typed string }{
		"the terminal says nothing": {"y", "y", "y"},
		"the terminal says so":      {"\x1b[121;1:2u", "\x1b[121;1:3u\x1b[121;1:1u", "y"},
		"another key between":       {"y", "xy", "xy"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 80, 24, demo())
			r.escalate(1, `{"path":"/tmp/b"}`, "")
			r.focusCall()
			r.keys("y")
			r.decided(1)
			r.now = r.now.Add(660 * time.Millisecond)
			for range 10 {
				r.keys(one.held)
				r.now = r.now.Add(30 * time.Millisecond)
			}
			if got := r.queued(1); got != "" {
				t.Fatalf("the agent got %q", got)
			}
			if one.typed != "xy" {
				r.now = r.now.Add(time.Second)
			}
			if r.keys(one.then); r.queued(1) != one.typed {
				t.Errorf("the agent got %q", r.queued(1))
			}
		})
	}
	t.Run("another call waits", func(t *testing.T) {
		r := newHarness(t, 80, 24, demo())
		r.escalate(1, `{"path":"/tmp/a"}`, "")
		r.escalate(2, `{"path":"/tmp/b"}`, "")
		r.focusCall()
		for range 20 {
			r.keys("y")
			r.now = r.now.Add(30 * time.Millisecond)
		}
		r.decided(1)
		if !r.m.line.Empty() {
			t.Errorf("on the line: %q", r.m.line.Text())
		}
	})
	t.Run("a question", func(t *testing.T) {
		r := newHarness(t, 80, 24, demo())
		r.keys("\x01/fit\r")
		r.wants("in every terminal")
		for range 20 {
			r.keys("n")
			r.now = r.now.Add(30 * time.Millisecond)
		}
		if got := r.queued(1); got != "" {
			t.Errorf("the agent got %q", got)
		}
	})
}
