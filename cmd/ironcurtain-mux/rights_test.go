package main

import (
	"strings"
	"testing"
)

// limited shows the daemon of a home in a terminal of 60x16 that may not do everything.
func limited(t *testing.T, home string, flags ...string) *driver {
	t.Helper()
	return drive(t, home, 60, 16, append([]string{"attach"}, flags...)...)
}

// A read-only terminal shows what the agent writes. Nothing typed there reaches the agent, and
// no tab gets its size.
func TestAReadOnlyTerminal(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	empty := limited(t, home, "--read-only")
	empty.see(patience, "no tab")
	a := attach(t, home, 120, 30)
	a.see(patience, "here>")
	a.send("echo shown$((1+1))\r")
	a.see(patience, "shown2")
	watcher := limited(t, home, "--read-only", "--name", "wall")
	watcher.see(patience, "shown2")
	watcher.send("echo no$((1+1))\r")
	watcher.see(patience, "this view is read-only")
	watcher.send("\x01/new local-shell\r")
	watcher.see(patience, "/new: this view is read-only")
	watcher.send("\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f/quit!\r")
	watcher.see(patience, "/quit!: this view is read-only")
	a.send("clear; stty size\r")
	a.see(patience, "28 120")
	if screen := a.text(); strings.Contains(screen, "no2") || strings.Contains(screen, "2 local") {
		t.Errorf("the other terminal has done something:\n%s", screen)
	}
	out, _, _ := d.command("clients", "ls")
	if strings.Count(out, "read-only") != 2 || strings.Count(out, "operates") != 1 || !strings.Contains(out, "wall ") {
		t.Errorf("clients:\n%s", out)
	}
	a.send("\x01/detach\r")
	a.exit(patience)
	if _, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s", code, errs)
	}
	for _, view := range []*driver{empty, watcher} {
		if code := view.exit(patience); code != 0 {
			t.Errorf("it ends with %d: %s", code, view.text())
		}
	}
	d.exit(patience)
}
