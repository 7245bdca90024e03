package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// noEngine is an engine's address where nothing is: what is driven with it
// needs no engine.
const noEngine = "DOCKER_HOST=unix:///nonexistent/docker.sock"

// allowLocalShell writes a configuration that allows shells of this machine.
func allowLocalShell(t testing.TB, home string) {
	t.Helper()
	configure(t, home, `{"localShell":true}`)
}

func TestLocalShellIsOffUnlessAllowed(t *testing.T) {
	t.Parallel()
	d := driveArgv(t, newHome(t), 120, 24, "env", noEngine, "ironcurtain-mux", "--agent", "local-shell")
	if code := d.exit(2 * time.Minute); code != cli.ExitFailure {
		t.Errorf("exit code %d, want %d", code, cli.ExitFailure)
	}
	for _, want := range []string{"local-shell is off", `"localShell": true in config.json`} {
		if !strings.Contains(d.text(), want) {
			t.Errorf("%q is not said:\n%s", want, d.text())
		}
	}
}

// Nothing on the way to the first frame waits for the engine, nor does a shell of
// this machine.
func TestStartDoesNotWaitForTheEngine(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	allowLocalShell(t, home)
	silent, err := net.Listen("unix", filepath.Join(home, "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it takes connections and never answers
	d := driveArgv(t, home, 80, 24, "env", "DOCKER_HOST=unix://"+silent.Addr().String(), "SHELL=/bin/sh", "PS1=here> ", "ENV=",
		"ironcurtain-mux", "--agent", "local-shell")
	d.see(8*time.Second, "here>") // the engine would be waited for longer
	d.send("\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d:\n%s", code, d.text())
	}
}

// A shell of this machine works without any engine, is marked as long as it is
// looked at, and is recorded.
func TestLocalShell(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	allowLocalShell(t, home)
	const mark = "unprotected: a shell of this machine"
	d := driveArgv(t, home, 120, 24, "env", noEngine, "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "--agent", "local-shell")
	d.see(patience, "here>", mark)
	d.send("echo $((40+2)):$HOME; stty size\r")
	d.see(patience, "42:"+filepath.Join(home, "user"), "120", mark)

	records, err := filepath.Glob(d.state("sessions", "*", "audit.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records: %v %v", records, err)
	}
	record, err := os.ReadFile(records[0])
	if err != nil || strings.Count(string(record), "a shell of this machine was opened") != 1 {
		t.Errorf("the record does not say once that it was opened: %v\n%s", err, record)
	}

	d.send("exit 7\r")
	d.see(patience, "ended with code 7")
	d.send("\x01/restart\r")
	d.until("the shell opened anew", patience, func(screen string) bool {
		return strings.Contains(screen, "here>") && !strings.Contains(screen, "42:")
	})
	d.send("echo $((50+3)); exit 8\r")
	d.see(patience, "53", "ended with code 8")
	d.send("\x01/new local-shell\r")
	d.until("a second shell", patience, func(screen string) bool {
		return strings.Contains(screen, "here>") && !strings.Contains(screen, "53")
	})
	d.send("\x01/quit\r")
	d.see(patience, "y/n")
	d.send("y")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d:\n%s", code, d.text())
	}
}

// A shell that is left without a failure closes its tab in every terminal, also if it was the only
// one; then the view stays, so that nothing typed after it reaches the person's own shell.
func TestAShellThatIsLeftClosesItsTab(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"shell"}`)
	d := driveArgv(t, home, 120, 24, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux")
	d.inTab(1, "/workspace$")
	session := d.onlySession()
	d.send("\x01/new local-shell\r")
	d.inTab(2, "here>")
	other := attach(t, home, 120, 24)
	other.see(patience, "2 ")
	d.send("(exit 3)\rexit\r")
	d.see(patience, "2 ✗", "ended with code 3")
	d.send("\x01/restart\r")
	d.until("the shell opened anew", patience, func(screen string) bool { return strings.Contains(screen, "here>") && !strings.Contains(screen, "✗") })
	d.send("exit\r")
	one := func(screen string) bool {
		bar, _, _ := strings.Cut(screen, "\n")
		return strings.Contains(bar, "1 ") && !strings.Contains(bar, "2 ")
	}
	d.inTab(1)
	d.until("the shell closed", patience, one)
	other.until("the shell closed elsewhere", patience, one)
	d.send("exit\r")
	for _, view := range []*driver{d, other} {
		view.see(patience, "no tab is open")
	}
	if s := d.stored(session.ID); s.Detached || s.State != broker.StateClosed {
		t.Errorf("after its end: %+v", s)
	}
	d.send("\x01/resume " + string(session.ID[:8]) + "\r")
	d.inTab(1, "/workspace$")
	d.send("\x01/quit!\r")
	d.exit(patience)
	other.exit(patience)
}
