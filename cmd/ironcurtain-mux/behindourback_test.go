package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// Somebody kills or removes the container behind the multiplexer's back. The tab
// says so within two seconds, another one answers each key meanwhile, and the agent
// goes on in its own home when it is asked to.
func TestContainerKilledFromOutside(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	d := e.driveShell()
	d.send("echo still-mine >~/note; echo put-$((40+2))\r")
	d.see(patience, "put-42")
	d.send("\x01/new local-shell\r")
	d.see(patience, "here>")
	for _, by := range []struct{ command, says string }{
		{"kill", "ended by signal 9"},
		{"rm -f", "shell "}, // was killed or is gone: whichever is seen first
	} {
		d.send("\x01/tab local-shell\r")
		d.see(patience, "here>")
		container := e.docker("ps", "-q")
		if strings.Contains(container, "\n") || container == "" {
			t.Fatalf("containers: %q", container)
		}
		e.docker(append(strings.Fields(by.command), container)...)
		d.send("clear; echo key-$((40+2))\r")
		d.see(toldWithin, "✗ shell", "key-42")
		d.send("\x01/tab shell\r")
		d.see(toldWithin, by.says)
		d.see(patience, "/restart, /resume") // under what is flashed first
		d.send("\x01/resume\r")
		d.see(patience, "Enter continues it")
		d.send("\r")
		d.see(patience, "○ shell", "/workspace$")
		d.send("clear; cat ~/note\r")
		d.see(patience, "still-mine")
	}
	d.quit()
	e.empty()
}

// Somebody removes the agent's image under its feet. The agent runs on; the next
// one that needs the image makes it again, in its tab.
func TestImageRemoved(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	d := e.driveShell()
	e.docker("rmi", "-f", e.docker("images", "--format", "{{.Repository}}:{{.Tag}}", "ironcurtain/shell"))
	d.send("echo lives-$((40+2))\r")
	d.see(patience, "lives-42")
	d.send("\x01/new shell\r")
	d.see(patience, "build image shell")
	d.see(patience, " 2 ○ shell", "/workspace$")
	d.send("echo new-$((40+2))\r")
	d.see(patience, "new-42")
	d.quit()
	e.empty()
}

// The engine hangs while an agent carries out a task without a terminal. The
// person is told, the answer is not lost, Ctrl-C needs no engine, and a container
// that is killed in the middle ends the task and not the patience.
func TestEngineHangsDuringATask(t *testing.T) {
	if copied() {
		t.Skip("the agent's files are reached by the engine alone, which hangs") //nolint:forbidigo // it cannot hold there
	}
	t.Parallel()
	e := startEngine(t)
	home := newHome(t)
	begin := func() *driver {
		d := driveArgv(t, home, 110, 24, "env", "DOCKER_HOST="+e.address, "ironcurtain-mux", "start", "--demo", "--agent", "shell")
		d.see(patience, "\n>")
		return d
	}
	// task begins one that ends when the file go is there.
	task := func(d *driver) (end func()) {
		d.unmake("begun")
		d.unmake("go")
		d.send("touch begun; until [ -e go ]; do sleep 0.1; done; echo done-$((40+2))\r")
		d.until("the task's beginning", patience, func(string) bool { return d.made("begun") })
		return func() { d.make("go") }
	}

	d := begin()
	end := task(d)
	e.signal(syscall.SIGSTOP)
	d.see(toldWithin, engineAway)
	end()
	e.signal(syscall.SIGCONT)
	d.see(patience, "answers again", "\ndone-42")

	task(d)
	e.signal(syscall.SIGSTOP)
	d.send("\x03")
	d.see(toldWithin, "the task was interrupted")
	d.send("\x03\x03")
	d.exit(20 * time.Second)
	d.see(time.Second, "is not gone", "ironcurtain-mux gc")
	e.signal(syscall.SIGCONT)

	d = begin()
	task(d)
	e.docker("kill", e.docker("ps", "-q", "--latest"))
	d.see(toldWithin, "ended by signal 9")
	if code := d.exit(20 * time.Second); code != cli.ExitFailure {
		t.Errorf("exit code %d", code)
	}
}

// Somebody moves the workspace away and spoils config.json. The tab says so within
// seconds, and when both are in order again.
func TestWorkspaceAndConfigSpoiled(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	allowLocalShell(t, home)
	d := driveArgv(t, home, 120, 24, "env", noEngine, "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "--agent", "local-shell")
	d.see(patience, "here>")
	work, away, config := d.onlySession().Workspace, filepath.Join(d.home, "away"), d.state("config.json")
	d.see(patience, "○ local-shell")
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(work, away); err != nil {
		t.Fatal(err)
	}
	d.see(toldWithin, "was deleted, moved or replaced", "the workspace is gone")
	if err := os.Rename(away, work); err != nil {
		t.Fatal(err)
	}
	d.until("its return", toldWithin, func(screen string) bool { return !strings.Contains(screen, "workspace is gone") })
	if err := os.WriteFile(config, []byte("{garbled"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.see(toldWithin, "config.json was changed and is refused")
	if err := os.WriteFile(config, before, 0o600); err != nil {
		t.Fatal(err)
	}
	d.see(toldWithin, "config.json is valid again")
	d.quit()
}
