package main

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// A small terminal beside a large one, or alone, changes neither the size of a tab nor a line of
// its scrollback, also when it is typed in. Only /fit does, until the tab is used elsewhere, and a
// tab that the small one opens has 80x24.
func TestSmallAndLargeTerminals(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	serveDaemon(t, home, "env", noEngine)
	editor, copied := copier(t, home)
	attach := func(cols, rows int) *driver {
		t.Helper()
		return driveArgv(t, home, cols, rows, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "VISUAL=", "EDITOR="+editor, "ironcurtain-mux", "attach")
	}
	// hash is one of all lines above the first prompt behind the long lines, as /edit shows them.
	hash := func(d *driver) [sha256.Size]byte {
		t.Helper()
		lines, _, found := strings.Cut(string(d.scrollback(copied)), "all printed")
		if !found || strings.Count(lines, "\n") < 300 {
			t.Fatalf("the scrollback: %d bytes", len(lines))
		}
		return sha256.Sum256([]byte(lines))
	}

	large := attach(200, 50)
	large.see(patience, "here>")
	large.send("i=0; while [ $i -lt 300 ]; do printf '%0190d\\n' $i; i=$((i+1)); done; echo all print''ed\r")
	large.see(patience, "all printed")
	before := hash(large)
	step := 0
	want := func(when string, d *driver, size string) {
		t.Helper()
		step++
		// The first key in a view gives the tab its size, while the shell already reads.
		d.send(fmt.Sprintf("until test \"$(stty size)\" = '%s'; do sleep .1; done; echo step %d: $(stty size)\r", size, step))
		d.see(patience, fmt.Sprintf("step %d: %s", step, size))
		if size == "48 200" && hash(d) != before {
			t.Errorf("%s: the scrollback has changed", when)
		}
	}

	small := attach(40, 20)
	small.see(patience, "a part of 200x48")
	if hash(large) != before {
		t.Error("attached: the scrollback has changed")
	}
	want("typed in the small one", small, "48 200")
	want("typed in the large one", large, "48 200")
	small.send("\x01/fit\r")
	small.see(patience, "make this tab 40x18", "columns wide")
	small.send("y")
	want("/fit", small, "18 40")
	large.send("true\r")
	small.see(patience, "a part of 200x48")
	want("used elsewhere", large, "48 200")
	large.send("\x01/detach\r")
	large.exit(patience)
	want("alone", small, "48 200")
	large = attach(200, 50)
	large.see(patience, ": 48 200")
	want("back", large, "48 200")

	small.send("\x01/new\r")
	small.inTab(2, "here>", "a part of 80x24")
	want("opened", small, "24 80")
	large.send("\x01/tab 2\r")
	large.see(patience, ": 24 80", "········")
	large.send("\x01/quit!\r")
	large.exit(patience)
}
