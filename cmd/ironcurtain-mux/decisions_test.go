package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engine connects to the machine's container engine.
func engine(t testing.TB) *docker.Client {
	t.Helper()
	endpoint, err := docker.Choice{}.Resolve(os.Getenv, "/")
	if err != nil {
		t.Fatal(err)
	}
	c, err := docker.Connect(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// sessions are what 'sessions ls' lists. Tests ask for it again and again while they
// wait, so it is asked for without starting the program each time.
func (d *driver) sessions() []broker.StoredSession {
	d.t.Helper()
	list, err := sessions.List(d.t.Context(), wiring.Paths{UserHome: filepath.Join(d.home, "user"), Home: d.state()})
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// otherThan is the first session that is not this one.
func (d *driver) otherThan(id broker.SessionID) broker.Session {
	d.t.Helper()
	for _, s := range d.sessions() { // their order changes with their use
		if s.ID != id {
			return s.Session
		}
	}
	d.t.Fatalf("there is no session besides %s", id)
	return broker.Session{}
}

// onlySession is the one session of the running multiplexer.
func (d *driver) onlySession() broker.Session {
	d.t.Helper()
	list := d.sessions()
	if len(list) != 1 {
		d.t.Fatalf("sessions: %+v", list)
	}
	return list[0].Session
}

// nothingLeft checks that no container of the session and no socket is left.
func (d *driver) nothingLeft(id broker.SessionID) {
	d.t.Helper()
	left, err := engine(d.t).List(context.Background(), map[string]string{broker.LabelSession: id})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(left) != 0 {
		d.t.Errorf("containers are left: %v", left)
	}
	sockets, err := filepath.Glob(d.state("run", "*", "sockets", "*"))
	if err != nil || len(sockets) != 0 {
		d.t.Errorf("sockets are left: %v, %v", sockets, err)
	}
}

// audit is the text of the session's audit, after it was verified.
func (d *driver) audit(id broker.SessionID) string {
	d.t.Helper()
	path := d.state("sessions", id, "audit.jsonl")
	if out, errs, code := d.command("audit", "verify", path); code != 0 {
		d.t.Fatalf("the audit does not verify: %s%s", out, errs)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// openDemo starts the demo and waits until Claude Code takes input.
func openDemo(t testing.TB, home string) *driver {
	t.Helper()
	return driveDemo(t, home, 110, 40)
}

// driveDemo is openDemo on a screen of that size.
func driveDemo(t testing.TB, home string, cols, rows int) *driver {
	t.Helper()
	d := drive(t, home, cols, rows, "demo")
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for agents") ||
			strings.Contains(screen, "for shortcuts")
	})
	d.until("the agent's connection to the tools", patience, func(string) bool {
		return d.onlySession().State == broker.StateIdle
	})
	// The agent has been told of the tools, and takes its own time to know them; a
	// prompt typed before is answered without, and a person would ask again.
	for tries := 0; ; tries++ {
		order := sameList(tries)
		d.ask(order)
		known := false
		d.until("an answer", patience, func(screen string) bool {
			known = strings.Contains(screen, "Done: list")
			return known || withoutTools(screen, order)
		})
		d.until("the end of the turn", patience, func(screen string) bool {
			return !strings.Contains(screen, "esc to interrupt")
		})
		if known {
			return d
		}
	}
}

// sameList is an order to list the workspace, in words of its own for each try: each
// try is then told apart from those before, as long as they are on the screen.
func sameList(tries int) string { return "list /workspace" + strings.Repeat("/.", tries) }

// withoutTools reports whether the screen shows the answer of an agent that does not
// know its tools, below the order.
func withoutTools(screen, order string) bool {
	at := strings.LastIndex(screen, order)
	return at >= 0 && strings.Contains(screen[at:], "is not connected")
}

// decide types a decision and presses Enter until it has taken effect: the
// panel refuses what it has not shown for long enough, and keeps the line.
func (d *driver) decide(command string, done func() bool) {
	d.t.Helper()
	d.send(command)
	d.see(patience, "> "+command)
	next := time.Now()
	d.until("the effect of "+command, patience, func(string) bool {
		if done() {
			return true
		}
		if time.Now().After(next) {
			next = time.Now().Add(400 * time.Millisecond)
			d.send("\r")
		}
		return false
	})
}

// The same call, refused by the person: nothing is written, the agent is told.
func TestDeny(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	session := d.onlySession()
	notes := d.state("demo", "outside", "notes.txt")
	d.ask("write " + notes + " denied-text")
	d.see(patience, "waiting", "#1 waits · tab 1 claude-code · filesystem/write_file · ", notes) // in the strip

	pending := d.pending()
	if len(pending) != 1 || pending[0].Tool != "write_file" {
		t.Fatalf("pending: %+v", pending)
	}
	if _, errs, code := d.command("deny", "9999"); code != 1 || !strings.Contains(errs, "9999") {
		t.Errorf("a number that no call has: code %d, %s", code, errs)
	}
	if out, _, _ := d.command("pending"); !strings.HasPrefix(out, "N ") || !strings.Contains(out, "\n#1    "+pending[0].ID+"  "+pending[0].Session[:8]+"  claude-code  ") {
		t.Errorf("pending shows %s", out)
	}
	if _, errs, code := d.command("deny", "#1", "--reason", "not today"); code != 0 {
		t.Fatalf("deny: %s", errs)
	}
	d.see(patience, "DENIED")
	if _, errs, code := d.command("approve", pending[0].ID); code != 1 || !strings.Contains(errs, "denied") {
		t.Errorf("a late answer: code %d, %s", code, errs)
	}
	if text, _ := os.ReadFile(notes); strings.Contains(string(text), "denied-text") {
		t.Error("the file was written although the call was denied")
	}

	// What the policy denies never waits for anybody.
	d.ask("read " + d.state("config.json"))
	d.see(patience, "protected")
	if n := len(d.pending()); n != 0 {
		t.Errorf("%d calls wait", n)
	}

	d.stop()
	d.exit(2 * time.Minute)
	d.nothingLeft(session.ID)
	record := d.audit(session.ID)
	for _, want := range []string{"escalated-denied", "cli", "structural-protected-path"} {
		if !strings.Contains(record, want) {
			t.Errorf("the audit does not mention %q", want)
		}
	}
}

// pending is what 'pending' lists, asked for like sessions.
func (d *driver) pending() []broker.Escalation {
	d.t.Helper()
	var list []broker.Escalation
	err := running.AskIfRunning(d.t.Context(), d.state(), func(ctx context.Context, c *calls.Client) (err error) {
		list, err = c.Pending(ctx)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// Nobody answers: the call ends as refused when its time is over, and decisions on
// calls that do not wait change nothing of that.
func TestExpire(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"escalationTimeoutSeconds":30,"strip":false}`)
	d, id := demoShell(t, home)
	notes := d.state("demo", "outside", "notes.txt")
	answer := d.write(id, notes, "late-text")
	d.waits()
	d.see(patience, "Ctrl-A shows what waits for you")
	if screen := d.text(); strings.Contains(screen, notes) {
		t.Errorf("there is a strip:\n%s", screen)
	}
	for _, command := range []string{"approve", "deny"} {
		_, errs, code := d.command(command, "some-id")
		if complaint := strings.TrimSpace(errs); code != cli.ExitFailure || !complaintLine.MatchString(complaint) ||
			!strings.Contains(complaint, "some-id") || !strings.Contains(complaint, "ironcurtain-mux pending") {
			t.Errorf("%s exits %d and says %q", command, code, complaint)
		}
	}
	if got := <-answer; !strings.Contains(got, "DENIED") {
		t.Errorf("the agent is told %s", got)
	}
	if n := len(d.pending()); n != 0 {
		t.Errorf("%d calls wait", n)
	}
	if text, _ := os.ReadFile(notes); strings.Contains(string(text), "late-text") {
		t.Error("the file was written although nobody approved")
	}
	d.stop()
	d.exit(2 * time.Minute)
	d.nothingLeft(id)
	if record := d.audit(id); !strings.Contains(record, "escalated-expired") {
		t.Error("the audit does not tell that the call expired")
	}
}

// A call that is approved while its record cannot be written is refused: whoever
// approved it is told so, in another terminal and in the multiplexer.
func TestAnApprovalWithoutARecordIsToldOf(t *testing.T) {
	t.Parallel()
	d, id := demoShell(t, newHome(t))
	notes := d.state("demo", "outside", "notes.txt")
	answer := d.write(id, notes, "first")
	out, errs, code := d.command("approve", d.waits().ID[:7])
	if code != cli.ExitOK || out != "approved; the call is done\n" {
		t.Errorf("approve exits %d: %s%s", code, out, errs)
	}
	<-answer
	log := d.state("sessions", id, "audit.jsonl")
	if err := os.Rename(log, log+".moved"); err != nil {
		t.Fatal(err)
	}
	const why = "the call was refused because its record could not be written"
	answer = d.write(id, notes, "second")
	out, errs, code = d.command("approve", d.waits().ID)
	if code != cli.ExitFailure || !strings.Contains(errs, "approved; "+why) || !complaintLine.MatchString(strings.TrimSpace(errs)) {
		t.Errorf("approve exits %d: %s%s", code, out, errs)
	}
	d.see(patience, why)
	if got := <-answer; !strings.Contains(got, "DENIED") {
		t.Errorf("the agent is told %s", got)
	}
	answer = d.write(id, notes, "third")
	d.waits()
	d.send("\x01")
	d.see(patience, "third")
	d.decide("/approve", func() bool {
		return strings.Contains(d.text(), "approved by you") && strings.Contains(d.text(), "the call was refused")
	})
	<-answer
	if text, err := os.ReadFile(notes); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Rename(log+".moved", log); err != nil {
		t.Fatal(err)
	}
	d.quit()
}
