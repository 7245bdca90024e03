package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// configure writes a configuration before the program starts.
// asked waits until exactly one push waits for the person, and denies it.
func (d *driver) asked(why string) broker.Escalation {
	d.t.Helper()
	var waiting []broker.Escalation
	d.until("a push that waits: "+why, patience, func(string) bool {
		waiting = d.pending()
		return len(waiting) == 1
	})
	e := waiting[0]
	if e.Tool != "git_push" {
		d.t.Fatalf("%s: %+v", why, e)
	}
	if _, errs, code := d.command("deny", e.ID); code != 0 {
		d.t.Fatalf("deny: %s", errs)
	}
	d.idle()
	return e
}

// idle waits until the agent has done with its turn.
func (d *driver) idle() {
	d.t.Helper()
	d.until("the end of the turn", patience, func(screen string) bool {
		return d.onlySession().State == broker.StateIdle && !strings.Contains(screen, "esc to interrupt")
	})
}

// command mode: typed text, a paste, and Enter.
func (d *driver) inCommandMode(keys, shown string) {
	d.t.Helper()
	d.send("\x01")
	d.send(keys)
	d.see(patience, "> "+shown)
	d.send("\r")
}

// An order typed in command mode lets exactly that call through, once, and says
// so. Everything that is not that order is asked: the same words pasted, typed
// into the agent, for another remote, or a second time.
func TestAutoApprovedPush(t *testing.T) {
	t.Parallel()
	const order = "push my changes to origin"
	home := newHome(t)
	configure(t, home, `{"autoApprove":{"enabled":true}}`)
	d := openDemo(t, home)
	session := d.onlySession()
	remote := func(name string) string { return d.state("demo", "remotes", name, "refs", "heads", "main") }
	pushed := func(name string) bool {
		_, err := os.Stat(remote(name))
		return err == nil
	}

	d.ask(order)
	e := d.asked("typed into the agent")
	if e.Effect == nil || !strings.Contains(e.Effect.Summary, "pushes 1 commit of refs/heads/main") {
		t.Errorf("effect %+v", e.Effect)
	}

	d.inCommandMode("\x1b[200~"+order+"\x1b[201~", order)
	d.asked("pasted")

	d.inCommandMode("git push origin", "git push origin") // no order that the script knows
	d.idle()
	d.ask("push my changes to backup")
	d.asked("to another remote")
	if pushed("hello.git") || pushed("backup.git") {
		t.Fatal("something was pushed before anybody approved")
	}

	d.inCommandMode(order, order)
	d.see(patience, "approved automatically", "“"+order+"”")
	d.until("the push", patience, func(string) bool { return pushed("hello.git") })
	d.idle()
	if n := len(d.pending()); n != 0 {
		t.Errorf("%d calls wait", n)
	}

	d.ask(order)
	d.asked("a second time")
	if pushed("backup.git") {
		t.Error("the other remote was pushed to")
	}
	d.inCommandMode("/done", "/done")
	d.see(patience, "cannot be undone", order, "hello.git")

	d.stop()
	d.exit(2 * time.Minute)
	d.nothingLeft(session.ID)
	var approved []string
	for line := range strings.Lines(d.audit(session.ID)) {
		if strings.Contains(line, `"decision":"auto-approved"`) {
			approved = append(approved, line)
		}
	}
	if len(approved) != 1 || !strings.Contains(approved[0], `"quote":"`+order+`"`) || !strings.Contains(approved[0], `"receipt":`) ||
		!strings.Contains(approved[0], `"decidedBy":"auto-approver"`) {
		t.Errorf("the audit tells of %d: %s", len(approved), approved)
	}
	own, err := os.ReadFile(d.state("sessions", string(session.ID), "auto-approve.jsonl"))
	if err != nil || strings.Count(string(own), `"outcome":"approved"`) != 1 || strings.Count(string(own), `"outcome":"asked"`) < 1 {
		t.Errorf("the approval's own log: %v\n%s", err, own)
	}
}
