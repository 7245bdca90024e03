package main

import (
	"strings"
	"testing"
)

// Two multiplexers work on one home, each with its own sessions: both are listed,
// neither touches what the other has, and the end of one is not the other's.
func TestTwoMultiplexersOnOneHome(t *testing.T) {
	t.Parallel()
	first := drive(t, newHome(t), 100, 24, "demo", "--agent", "shell")
	first.see(patience, "/workspace$")
	session := first.onlySession()
	second := drive(t, first.home, 100, 24, "demo", "--agent", "shell")
	second.see(patience, "/workspace$", "multiplexer 2")
	out, errs, code := first.command("sessions", "ls")
	if code != exitOK || strings.Count(out, "\n") != 2 || !strings.Contains(out, "1 of multiplexer 1") || !strings.Contains(out, "1 of multiplexer 2") {
		t.Errorf("sessions: code %d, %s%s", code, out, errs)
	}
	// What waits in either has the same number and the same tab.
	answers := []<-chan string{}
	for _, s := range first.sessions() {
		answers = append(answers, first.write(s.ID, first.state("demo", "outside", "notes.txt"), "text"))
	}
	first.until("both calls", patience, func(string) bool { return len(first.pending()) == 2 })
	if out, errs, _ := first.command("pending"); !strings.Contains(out, "  tab 1 of multiplexer 1  ") || !strings.Contains(out, "  tab 1 of multiplexer 2  ") {
		t.Errorf("pending: %s%s", out, errs)
	}
	for _, e := range first.pending() {
		if _, errs, code := first.command("deny", e.ID); code != exitOK {
			t.Error(errs)
		}
	}
	for _, answer := range answers {
		<-answer
	}
	second.send("\x01/resume\r")
	second.see(patience, string(session.ID[:8]), "open elsewhere")
	second.send("\r")
	second.see(patience, "another multiplexer")
	second.send("q")
	second.see(patience, "/workspace$")
	if _, errs, code := second.command("sessions", "rm", string(session.ID)); code != exitFailure || !strings.Contains(errs, "is open in a multiplexer") {
		t.Errorf("rm: code %d, %s", code, errs)
	}
	second.send("echo still-$((40+2))\r")
	second.see(patience, "still-42")
	second.quit()
	first.send("echo alive-$((40+2))\r")
	first.see(patience, "alive-42")
	if list := containersOf(t, session.ID); len(list) != 1 || !list[0].Running {
		t.Errorf("containers of the first: %+v", list)
	}
	first.quit()
	first.traceless()
}
