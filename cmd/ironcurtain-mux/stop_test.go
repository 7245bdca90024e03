package main

import (
	"encoding/json"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// Commands find a session by the number that its tab has in the bar now, also after another one was
// stopped.
func TestSessionsAreFoundByTheirTabs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := serveDaemon(t, home)
	a := attach(t, home, 100, 24)
	a.see(patience, "/workspace$")
	first := d.onlySession()
	a.send("\x01/new\r")
	a.inTab(2, "/workspace$")
	second := d.otherThan(first.ID)
	shown := func(tab string, want broker.SessionID) {
		t.Helper()
		var s broker.Session
		out, errs, code := d.command("sessions", "show", tab, "--json")
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != cli.ExitOK || s.ID != want {
			t.Errorf("tab %s: code %d, %v, %s, not %s: %s", tab, code, err, s.ID, want, errs)
		}
	}
	shown("#1", first.ID)
	shown("#2", second.ID)
	if _, errs, code := d.command("stop", "#1"); code != cli.ExitOK {
		t.Errorf("stop: code %d, %s", code, errs)
	}
	shown("#1", second.ID)
	if out, errs, code := d.command("audit", "show", "#1"); code != cli.ExitOK {
		t.Errorf("audit show: code %d, %s%s", code, out, errs)
	}
	if _, errs, code := d.command("stop", "--now"); code != cli.ExitOK {
		t.Errorf("stop --now: code %d, %s", code, errs)
	}
	a.exit(patience)
}
