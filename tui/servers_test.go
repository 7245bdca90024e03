package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
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

// /registries shows what came of the registries of the tab, and releases what was denied.
func TestRegistries(t *testing.T) {
	r := newHarness(t, 140, 24, Options{})
	r.keys("\x01/registries\r")
	screen := r.screen()
	for _, want := range []string{
		"412 files delivered, 3 versions hidden, 1 waiting, 2 requests refused or failed", "npm:left@2.1.0", "3 versions of npm left",
		"https://npm.example/; named by npm config get registry; also known as https://yarn.example/",
		"https://npm.acme.example/; for @acme; private: no version is too young; named by config.json",
		"it is on the list of malicious versions", "'ironcurtain-mux registry log --refused' lists the older ones",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	r.keys("q\x01/registries release npm:left@2.1.0\r")
	if screen := r.screen(); !strings.Contains(screen, "npm:left@2.1.0 asks again when the agent requests it") || !slices.Contains(r.broker.turned, "release npm:left@2.1.0") {
		t.Errorf("nothing is released, %v:\n%s", r.broker.turned, screen)
	}
	r.keys("\x01/registries close\r")
	if screen := r.screen(); !strings.Contains(screen, "takes nothing, or release and a version that was denied") {
		t.Errorf("no error:\n%s", screen)
	}
}

// The status line counts packages while they come in.
func TestStatusCountsPackages(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	for text, c := range map[string]broker.PackageCounts{
		"pkgs 12":                       {Delivered: 12},
		"pkgs 412 · 3 hidden · 1 waits": {Delivered: 412, Hidden: 3, Waiting: 1},
		"pkgs 0 · 2 wait":               {Waiting: 2},
	} {
		r.send(brokerMsg{broker.Event{Moving: &broker.Moving{Session: "s1", Counts: c}}})
		if screen := r.screen(); !strings.Contains(screen, text) {
			t.Errorf("%q is not shown:\n%s", text, screen)
		}
	}
	r.send(brokerMsg{broker.Event{Moving: &broker.Moving{Session: "s1"}}})
	if screen := r.screen(); strings.Contains(screen, "pkgs") {
		t.Errorf("packages are shown that do not come in:\n%s", screen)
	}
}
