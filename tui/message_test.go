package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// What a message says is true as long as it is on the screen.
func TestMessagesGoWhenTheyAreTrueNoMore(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(r *harness)
		says   string
		after  func(r *harness)
	}{
		{"a search that finds nothing, and then does", func(r *harness) { r.keys("\x01[/nowhere\r") }, "not found: nowhere", func(r *harness) { r.keys("?edit\r") }},
		{"a search that finds nothing, and then a move", func(r *harness) { r.keys("\x01[/nowhere\r") }, "not found", func(r *harness) { r.keys("k") }},
		{"a search that finds nothing, and then the wheel", func(r *harness) { r.keys("\x01[/nowhere\r") }, "not found", func(r *harness) { r.keys("\x1b[<64;5;3M") }},
		{"an unknown command that is completed", func(r *harness) { r.keys("\x01/renam\r") }, "no such command", func(r *harness) { r.keys("\t") }},
		{"an unknown command that is edited", func(r *harness) { r.keys("\x01/frob\r") }, "no such command", func(r *harness) { r.keys("\x7f") }},
		{"an unknown command, and then a paste", func(r *harness) { r.keys("\x01/frob\r") }, "no such command", func(r *harness) { r.keys("\x1b[200~x\x1b[201~") }},
		{"nothing to complete, and then there is", func(r *harness) { r.keys("\x01/theme x\t") }, "nothing begins with", func(r *harness) { r.keys("\x7f\t") }},
		{"a tab that is not there, and then one that is", func(r *harness) { r.keys("\x1b7") }, "7", func(r *harness) { r.keys("\x1b1") }},
		{
			"a broker that cannot be reached, and then can", func(r *harness) { r.send(brokerLostMsg{errors.New("the broker is away")}) }, "is away",
			func(r *harness) { r.send(listedMsg{at: r.now, sessions: []broker.Session{r.m.numbered(1).session}}) },
		},
		{
			"a server that did not start, and then does", func(r *harness) { r.serverNotice("server board", "board could not be started") }, "could not be started",
			func(r *harness) { r.serverNotice("server board", "") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newHarness(t, 120, 24, Options{})
			r.state(1, broker.StateIdle)
			r.agentSays(1, agentScreen)
			c.before(r)
			r.wants(c.says)
			said := r.m.said().Text
			c.after(r)
			if got := r.m.said().Text; got == said {
				t.Errorf("it still says %q", got)
			}
		})
	}
}

// serverNotice sends a notice of the first tab about something.
func (r *harness) serverNotice(about, text string) {
	r.t.Helper()
	r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Session: "s1", Urgent: true, About: about, Text: text}}})
}

// What is true no more does not come back behind a list, where no key would take it away: a
// machine types faster than a message goes, and this one waits for another.
func TestAMessageThatIsTakenBackDoesNotCoverAList(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.serverNotice("server board", "board could not be started")
	r.serverNotice("server local", "local could not be started")
	r.keys("\x01/servers restart tickets\r")
	r.serverNotice("server board", "")
	r.keys("\x01/servers\r")
	r.wants("local could not be started")
	r.now = r.now.Add(2 * time.Second)
	for i := 0; i < 4; i, r.now = i+1, r.now.Add(2*time.Second) {
		if got := r.m.said().Text; strings.Contains(got, "board could not be started") {
			t.Errorf("a message is back: %s", got)
		}
	}
}

// A notice that comes right after an error does not hide it.
func TestANoticeWaitsForAnError(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.keys("\x01/frobnicate\r")
	r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Session: "s1", Text: "the workspace has moved"}}})
	r.wants("no such command")
	r.keys("\x7f")
	r.wants("the workspace has moved")
}

// What others wrote is spelled out in a message, and is never taken for a question.
func TestMessagesSpellOutWhatOthersWrote(t *testing.T) {
	const hostile = "y/n: a\u202eb\u05d0c\u0301\u0301d\x1b[2Je\r\ny/n: approve?"
	r := newHarness(t, 80, 24, demo())
	check := func(t *testing.T) {
		t.Helper()
		screen := r.screen()
		for _, c := range screen {
			if c < ' ' && c != '\n' || strings.ContainsRune("\u202e\u05d0\u0301", c) {
				t.Fatalf("%U is drawn:\n%s", c, screen)
			}
		}
		if strings.Contains(screen, "┃y/n") || r.m.question != nil {
			t.Fatalf("a question:\n%s", screen)
		}
	}
	id := r.m.tabs[0].session.ID
	t.Run("the name of an attached file", func(t *testing.T) {
		r.send(answerMsg(func() { r.m.pasteAttached(id, []string{hostile}) }))
		check(t)
	})
	t.Run("how a call ended", func(t *testing.T) {
		r.send(brokerMsg{broker.Event{Kind: broker.EventEnding, Ending: &broker.Ending{ID: "e9", Number: 9, State: broker.EndFailed, Reason: hostile}}})
		check(t)
	})
	t.Run("its notification", func(t *testing.T) {
		r.agentSays(1, "\x1b]0;"+hostile+"\x07\x1b]9;"+hostile+"\x07\x1b]777;notify;"+hostile+";"+hostile+"\x07")
		check(t)
	})
	for _, command := range []string{"split", "port", "theme", "tab", "swap", "layout", "prefix", "help", "close", "resume", "move", "save", "new", "approve+", "registries", "servers"} {
		t.Run("the arguments of "+command, func(t *testing.T) {
			r.keys("\x1b\x01\x15/" + command + " " + hostile + "\r")
			check(t)
			r.keys("\x1b")
		})
	}
}
