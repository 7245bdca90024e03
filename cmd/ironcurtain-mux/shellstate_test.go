package main

import "testing"

// A shell in a container says when it runs a command, and the tab shows it.
func TestAShellThatRunsACommandIsWorking(t *testing.T) {
	t.Parallel()
	d := openShell(t, newHome(t))
	d.see(patience, "○ shell")
	d.send("read line; echo got $line\r")
	d.see(patience, "● shell", "working")
	d.send("x\r")
	d.see(patience, "got x", "○ shell")
	d.send("\x01/quit!\r")
	d.ended(patience)
}

// A shell that is taken back at its prompt is idle, though the engine has not kept the unfinished
// line that says so.
func TestAShellThatIsTakenBackIsIdleAtItsPrompt(t *testing.T) {
	t.Parallel()
	d := openShell(t, newHome(t))
	session := d.onlySession()
	d.send("echo o''ne\r")
	d.see(patience, "one", "○ shell")
	d.murder(t, session.ID)
	d.see(patience, "one", "○ shell")
	d.settled()
	d.see(patience, "○ shell")
	d.send("\x01/quit!\r")
	d.ended(patience)
}
