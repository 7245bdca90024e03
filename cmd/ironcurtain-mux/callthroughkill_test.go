package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// waiting is the one call that "pending" lists, once holds is true of it.
func (d *driver) waiting(holds func(broker.Escalation) bool) broker.Escalation {
	d.t.Helper()
	var e broker.Escalation
	d.until("the waiting call", patience, func(string) bool {
		list := d.pending()
		if len(list) != 1 {
			return false
		}
		e = list[0]
		return holds(e)
	})
	return e
}

// killAndTakeBack kills the multiplexer and has another one take its agent back.
func (d *driver) killAndTakeBack(t *testing.T, id broker.SessionID) *driver {
	t.Helper()
	d.killAll(true)
	if out, errs, code := d.command("pending"); code != 0 || out != "" || !strings.Contains(errs, "--resume "+string(id[:8])) {
		t.Errorf("pending after the kill: code %d, %s%s", code, out, errs)
	}
	next := drive(t, d.home, 110, 40, "demo")
	next.see(patience, "1 waiting")
	return next
}

// The multiplexer is killed while a call waits for a person. The next one shows
// the same call again, here and in other terminals; the agent has waited all the
// time and gets the answer to its own request. What was approved happens once.
func TestACallWaitsThroughAKill(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	session := d.onlySession()
	notes := d.state("demo", "outside", "notes.txt")
	content := func() string {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	d.ask("write " + notes + " after-the-kill")
	d.see(patience, "waiting")
	asked := d.waiting(func(e broker.Escalation) bool { return !e.Restored })
	next := d.killAndTakeBack(t, session.ID)
	again := next.waiting(func(e broker.Escalation) bool { return e.Restored && !e.Unclaimed })
	if again.ID != asked.ID || again.Number != asked.Number || again.Digest != asked.Digest || string(again.Arguments) != string(asked.Arguments) ||
		string(again.Requested) != string(asked.Requested) || !again.AskedAt.Equal(asked.AskedAt) || again.Effect == nil || again.Effect.Changed {
		t.Errorf("asked\n%+v\nagain\n%+v", asked, again)
	}
	if content() == "after-the-kill" {
		t.Fatal("the file was written before anybody approved")
	}
	next.send("\x01")
	next.see(patience, "asked: before the restart", "its agent waits", "write_file")
	if out, errs, code := next.command("approve", again.ID); code != 0 {
		t.Fatalf("approve: %s%s", out, errs)
	}
	next.see(patience, "Done: write") // the agent's own request was answered
	if !strings.Contains(content(), "after-the-kill") {
		t.Errorf("approved, but the file holds %q", content())
	}
	if strings.Contains(next.text(), "INTERRUPTED") {
		t.Errorf("the agent was interrupted:\n%s", next.text())
	}

	// The same once more, and this time it is refused, in the panel.
	next.send("\x1b")
	next.see(patience, "Ctrl-A command line")
	next.ask("write " + notes + " a-second-time")
	next.see(patience, "1 waiting")
	last := next.killAndTakeBack(t, session.ID)
	again = last.waiting(func(e broker.Escalation) bool { return e.Restored && !e.Unclaimed })
	last.send("\x01")
	last.see(patience, "asked: before the restart")
	last.decide("/deny use-the-workspace", func() bool { return strings.Contains(last.audit(session.ID), "escalated-denied") })
	last.see(patience, "use-the-workspace")
	if strings.Contains(content(), "a-second-time") {
		t.Error("the file was written although it was denied")
	}
	last.send("\x1b")
	last.see(patience, "Ctrl-A command line")
	last.quit()
	last.nothingLeft(session.ID)
	record := last.audit(session.ID)
	if n := strings.Count(record, `"escalated-approved"`); n != 1 || !strings.Contains(record, `"askedBeforeRestart":true`) {
		t.Errorf("%d approvals are on record:\n%s", n, record)
	}
	if left, err := os.ReadDir(last.state("sessions", string(session.ID), "waiting")); err != nil || len(left) != 0 {
		t.Errorf("still written down as waiting: %v, %v", left, err)
	}
}
