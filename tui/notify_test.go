package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
)

// settle lets the time pass after which an idle agent counts as done.
func (r *harness) settle() {
	r.now = r.now.Add(notify.Settle)
	waiting := r.finished
	r.finished = nil
	for _, msg := range waiting {
		r.send(msg)
	}
}

// An escalation, a finished agent and a dead agent are announced with their tab. An agent
// that the person looks at is not announced as done.
func TestAnnouncements(t *testing.T) {
	r := newHarness(t, 80, 24, Options{Notify: "desktop"})
	r.keys("\x01/new shell\r\x01/rename bu\u202eild\r\x1b1")
	step := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, r.notified); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		r.notified, r.now = nil, r.now.Add(announceEvery)
	}
	e := escalation(1, `{}`, "")
	e.Session = "s2"
	r.send(brokerMsg{msgOf(e)})
	step("a call waits", `ironcurtain-mux bu\u{202e}ild s2: approval #1: filesystem/write_file`)
	e.More = 1
	r.send(brokerMsg{msgOf(e)})
	step("a call like it was refused")
	e.HalfOver = true
	r.send(brokerMsg{msgOf(e)})
	step("half of its time is over", `ironcurtain-mux bu\u{202e}ild s2: approval #1 still waits: filesystem/write_file`)
	r.send(brokerMsg{msgOf(e)})
	step("half of its time was over")

	r.state(2, broker.StateWorking)
	r.state(2, broker.StateIdle)
	r.state(2, broker.StateWorking)
	r.settle()
	step("a pause between two steps")
	r.state(2, broker.StateIdle)
	r.settle()
	r.wants("2 ✓ bu")
	step("it is done", `ironcurtain-mux bu\u{202e}ild s2: done`)

	r.state(1, broker.StateWorking)
	r.state(1, broker.StateIdle)
	r.settle()
	step("it is looked at")
	r.state(1, broker.StateWorking)
	r.keys("\x1b[O")
	r.state(1, broker.StateIdle)
	r.settle()
	step("the person is elsewhere", "ironcurtain-mux claude-code s1: done")

	r.send(paneMsg{"s1", term.Event{Kind: term.EventNotification, Text: "here"}})
	step("a program wishes it meanwhile", "ironcurtain-mux claude-code s1: here")
	r.keys("\x1b[I")
	r.send(paneMsg{"s1", term.Event{Kind: term.EventNotification, Text: "here"}})
	step("a program wishes it that is looked at")
	r.send(paneMsg{"s2", term.Event{Kind: term.EventNotification, Text: "look"}})
	step("a program wishes it", `ironcurtain-mux bu\u{202e}ild s2: look`)
	r.state(2, broker.StateDead)
	step("it ended", `ironcurtain-mux bu\u{202e}ild s2: shell ended with exit code 0`)
}

func TestMuting(t *testing.T) {
	for _, test := range []struct {
		name, keys string
		o          Options
		want       int
	}{
		{name: "not muted", want: 2},
		{name: "this tab", keys: "\x01/mute\r", want: 0},
		{name: "this tab and again", keys: "\x01/mute\r\x01/mute\r", want: 2},
		{name: "another tab", keys: "\x1b2\x01/mute\r", want: 2},
		{name: "all", keys: "\x1b2\x01/mute all\r", want: 0},
		{name: "only the end", o: Options{NotifyOn: []string{"dead"}}, want: 1},
	} {
		r := newHarness(t, 80, 24, test.o)
		r.keys("\x01/new shell\r\x1b1" + test.keys)
		r.escalate(1, `{}`, "")
		r.now = r.now.Add(announceEvery)
		r.state(1, broker.StateDead)
		if r.requests != test.want {
			t.Errorf("%s: %d bells, want %d", test.name, r.requests, test.want)
		}
	}
}

// When a screen fails and begins empty, the person is told why.
func TestFaultIsTold(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.send(paneMsg{"s1", term.Event{Kind: term.EventFault, Text: "index out of range"}})
	r.wants("claude-code s1: the screen failed and was cleared: index out of range (please report this)")
}
