package tui

import (
	"strings"
	"testing"
)

// /servers lists the servers of the tab with what is wrong, and starts one again.
func TestServers(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/servers\r")
	screen := r.screen()
	for _, want := range []string{
		"14 tools; ready, runs when a call needs it", "9 tools; running", "read_graph is not offered: its input schema",
		"0 tools; failed: start server tickets: exit status 1",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	r.keys("q\x01/servers restart tickets\r")
	r.keys("\x01/servers disable memory\r")
	if screen := r.screen(); !strings.Contains(screen, "server memory is off in this tab; /servers restart memory turns it on") {
		t.Errorf("nothing is said:\n%s", screen)
	}
	r.keys("\x01/servers add notes npx -y 'a b'\r")
	if screen := r.screen(); !strings.Contains(screen, "server notes is in config.json and starts in this tab") {
		t.Errorf("nothing is said:\n%s", screen)
	}
	if got := strings.Join(r.broker.turned, ", "); got != "tickets, memory off, notes: npx|-y|a b" {
		t.Errorf("turned %q", got)
	}
	r.keys("\x01/servers stop\r")
	if screen := r.screen(); !strings.Contains(screen, "takes nothing, restart or disable and a name, or add") {
		t.Errorf("no error:\n%s", screen)
	}
}
