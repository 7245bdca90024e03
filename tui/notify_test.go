package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// settle lets the time pass after which an idle agent counts as done.
func (r *harness) settle() {
	r.now = r.now.Add(doneSettle)
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
	var told []notification
	r.m.command = func(n notification) { told = append(told, n) }
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
	step("a call waits", `ironcurtain-mux tab 2 bu\u{202e}ild: approval #1: filesystem/write_file`)

	r.state(2, broker.StateWorking)
	r.state(2, broker.StateIdle)
	r.state(2, broker.StateWorking)
	r.settle()
	step("a pause between two steps")
	r.state(2, broker.StateIdle)
	r.settle()
	r.wants("2 ✓ bu")
	step("it is done", `ironcurtain-mux tab 2 bu\u{202e}ild: done`)

	r.state(1, broker.StateWorking)
	r.state(1, broker.StateIdle)
	r.settle()
	step("it is looked at")
	r.state(1, broker.StateWorking)
	r.keys("\x1b[O")
	r.state(1, broker.StateIdle)
	r.settle()
	step("the person is elsewhere", "ironcurtain-mux tab 1 claude-code: done")

	r.send(paneMsg{"s1", term.Event{Kind: term.EventNotification, Text: "here"}})
	step("a program wishes it meanwhile", "ironcurtain-mux tab 1 claude-code: here")
	r.keys("\x1b[I")
	r.send(paneMsg{"s1", term.Event{Kind: term.EventNotification, Text: "here"}})
	step("a program wishes it that is looked at")
	r.send(paneMsg{"s2", term.Event{Kind: term.EventNotification, Text: "look"}})
	step("a program wishes it", `ironcurtain-mux tab 2 bu\u{202e}ild: look`)
	r.state(2, broker.StateDead)
	step("it ended", `ironcurtain-mux tab 2 bu\u{202e}ild: shell ended with exit code 0`)

	want := []notification{
		{onEscalated, 2, "s2", `ironcurtain-mux tab 2 bu\u{202e}ild`, "approval #1: filesystem/write_file"},
		{onDone, 2, "s2", `ironcurtain-mux tab 2 bu\u{202e}ild`, "done"},
		{onDone, 1, "s1", "ironcurtain-mux tab 1 claude-code", "done"},
		{onDead, 2, "s2", `ironcurtain-mux tab 2 bu\u{202e}ild`, "shell ended with exit code 0"},
	}
	if diff := cmp.Diff(want, told, cmp.AllowUnexported(notification{})); diff != "" {
		t.Error(diff)
	}
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
		n := 0
		r.m.command = func(notification) { n++ }
		r.escalate(1, `{}`, "")
		r.now = r.now.Add(announceEvery)
		r.state(1, broker.StateDead)
		if n != test.want || r.requests != test.want {
			t.Errorf("%s: %d commands, %d bells, want %d", test.name, n, r.requests, test.want)
		}
	}
}

// serveNotifier runs a notifier whose errors arrive on the channel.
func serveNotifier(t *testing.T, limit time.Duration, argv ...string) (*notifier, <-chan error) {
	t.Helper()
	failed := make(chan error, maxNotifications)
	n := newNotifier(argv, limit, func(msg tea.Msg) { failed <- msg.(notifiedMsg).err })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return n, failed
}

// The command gets the notification in its environment, and no text of it is run.
func TestNotifyCommand(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	n, failed := serveNotifier(t, notifyTime, "sh", "-c",
		`printf '%s\n' "$IRONCURTAIN_EVENT" "$IRONCURTAIN_TAB" "$IRONCURTAIN_SESSION" "$IRONCURTAIN_TITLE" "$IRONCURTAIN_TEXT" >`+out+`; exit 3`)
	n.offer(notification{onDone, 2, "s2", "$(touch " + dir + "/pwned)", "`touch " + dir + "/pwned`; 'x"})
	err := <-failed
	if got := explain(err); got != "notify: sh: exit status 3 (fix notifyCommand in config.json)" {
		t.Error(got)
	}
	text, _ := os.ReadFile(out)
	want := "done\n2\ns2\n$(touch " + dir + "/pwned)\n`touch " + dir + "/pwned`; 'x\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(dir + "/pwned"); err == nil {
		t.Error("a notification was run")
	}
}

// A command that does not end is killed with the processes it has started. The number of
// notifications that wait meanwhile is bounded.
func TestNotifyCommandIsBounded(t *testing.T) {
	n, failed := serveNotifier(t, 100*time.Millisecond, "sh", "-c", "sleep 1000 & sleep 1000")
	for range 10 * maxNotifications {
		n.offer(notification{what: onDone})
	}
	if len(n.queue) > maxNotifications {
		t.Errorf("%d wait", len(n.queue))
	}
	if got := explain(<-failed); !strings.Contains(got, "sh took more than 100ms and was killed") {
		t.Error(got)
	}
	absent, failed := serveNotifier(t, notifyTime, "/nonexistent/notify")
	absent.offer(notification{what: onDone})
	if got := explain(<-failed); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
}

// When a screen fails and begins empty, the person is told why.
func TestFaultIsTold(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.send(paneMsg{"s1", term.Event{Kind: term.EventFault, Text: "index out of range"}})
	r.wants("tab 1: its screen failed and was cleared: index out of range (please report this)")
}
