package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// answered waits for the answer in a session's transcript.
func (d *driver) answered(id, text string) {
	d.t.Helper()
	var data []byte
	if !eventually(patience, func() bool {
		data, _ = os.ReadFile(d.state("sessions", id, "turns.jsonl")) // it does not exist at first
		return strings.Contains(string(data), `"end":"answered"`)
	}) || !strings.Contains(string(data), text) {
		d.t.Fatalf("the session holds %s", data)
	}
	if !eventually(patience, func() bool { return d.daemon() == 0 || len(d.running()) == 0 }) {
		d.t.Errorf("the session does not end: %+v", d.running())
	}
	d.nothingLeft(id)
}

// running lists the sessions without a terminal that have not ended.
func (d *driver) running() (list []broker.StoredSession) {
	for _, s := range d.allStored() {
		if s.Owned && s.NoTerminal {
			list = append(list, s)
		}
	}
	return list
}

// A task goes on when its client is killed, or its terminal is closed, and its answer is in the
// session.
func TestATaskGoesOnWithoutItsClient(t *testing.T) {
	for name, lose := range map[string]func(d *driver){
		"killed":              func(d *driver) { d.signal(syscall.SIGKILL) },
		"the terminal closed": func(d *driver) { _ = d.pty.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := drive(t, newHome(t), 110, 24, "start", "--demo", "--agent", "shell", "touch begun; until [ -e go ]; do sleep 0.1; done; echo done-$((40+2))")
			d.until("the task's beginning", patience, func(string) bool { return d.made("begun") })
			lose(d)
			d.exit(patience)
			list := d.running()
			if len(list) != 1 {
				t.Fatalf("sessions: %+v", list)
			}
			d.make("go")
			d.answered(list[0].ID, "done-42")
		})
	}
}

// With --detach, start prints the session's id only. A call that waits is shown in every view,
// which gets no tab for it, and is decided there.
func TestADetachedTaskIsDecidedInAView(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	notes := filepath.Join(home, "state", "demo", "outside", "notes.txt")
	out, errs, code := runStart(t, home, "", "--detach", "write "+notes+" as-approved")
	id := strings.TrimSpace(out)
	if code != 0 || errs != "" || len(id) == 0 {
		t.Fatalf("code %d: %q %s", code, out, errs)
	}
	d := &driver{t: t, home: home}
	if !eventually(patience, func() bool { return len(d.pending()) == 1 }) {
		t.Fatal("no call waits")
	}
	view := driveArgv(t, home, 110, 30, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux")
	view.see(patience, "here>", "1 waiting")
	if bar, _, _ := strings.Cut(view.text(), "\n"); strings.Contains(bar, "claude-code") {
		t.Errorf("the task has a tab:\n%s", view.text())
	}
	view.send("\x01")
	view.see(patience, "notes.txt")
	view.decide("/approve", func() bool { return len(d.pending()) == 0 })
	d.answered(id, "")
	if text, err := os.ReadFile(notes); err != nil || !strings.Contains(string(text), "as-approved") {
		t.Errorf("%q, %v", text, err)
	}
	view.send("echo still$((1+1))\r")
	view.see(patience, "still2")
}

// A second task runs in the same daemon, and Ctrl-C ends one only.
func TestCtrlCEndsItsOwnTask(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := drive(t, home, 110, 24, "start", "--demo", "--agent", "shell", "until [ -e go ]; do sleep 0.1; done; echo done-$((40+2))")
	first.see(patience, "starting the container")
	second := drive(t, home, 110, 24, "start", "--demo", "--agent", "shell", "touch begun; sleep 1000")
	second.until("the task's beginning", patience, func(string) bool { return second.made("begun") })
	second.send("\x03")
	if code := second.exit(patience); code != cli.ExitFailure || !strings.Contains(second.text(), "interrupted by a signal") {
		t.Errorf("code %d: %s", code, second.text())
	}
	first.make("go")
	first.see(patience, "done-42")
	if code := first.exit(patience); code != cli.ExitOK {
		t.Errorf("code %d: %s", code, first.text())
	}
}

// stop with a session's id ends only this session, and its agent with it.
func TestStopEndsOneSession(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	other := drive(t, home, 110, 24, "start", "--demo", "--agent", "shell", "until [ -e go ]; do sleep 0.1; done; echo done-$((40+2))")
	other.see(patience, "starting the container")
	out, errs, code := runStart(t, home, "", "--agent", "shell", "--detach", "touch begun; sleep 1000")
	id := strings.TrimSpace(out)
	if code != cli.ExitOK {
		t.Fatalf("code %d: %q %s", code, out, errs)
	}
	other.until("the task's beginning", patience, func(string) bool { return other.made("begun") })
	if _, errs, code := other.command("stop", id, "no-session"); code != cli.ExitFailure || !strings.Contains(errs, `no session has the id "no-session"`) || len(other.running()) != 2 {
		t.Errorf("an unknown session: code %d, %s, %+v", code, errs, other.running())
	}
	if _, errs, code := other.command("stop", id[:8]); code != cli.ExitOK || errs != "session "+id[:8]+" has ended; 'ironcurtain-mux start --resume "+id[:8]+" TASK' continues it\n" {
		t.Errorf("code %d, %s", code, errs)
	}
	if list := other.running(); len(list) != 1 || list[0].ID == id {
		t.Errorf("these run: %+v", list)
	}
	if _, errs, code := other.command("stop", id); code != cli.ExitOK || !strings.Contains(errs, "has ended already") {
		t.Errorf("stopped again: code %d, %s", code, errs)
	}
	other.make("go")
	other.see(patience, "done-42")
	if code := other.exit(patience); code != cli.ExitOK {
		t.Errorf("code %d: %s", code, other.text())
	}
	other.nothingLeft(id)
}
