package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// prompted waits for Claude Code's prompt.
func (d *driver) prompted() {
	d.t.Helper()
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		if strings.Contains(screen, "ended with exit code") || strings.Contains(screen, "was not started") {
			d.t.Fatalf("the agent ended:\n%s", screen)
		}
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for shortcuts")
	})
}

// stored is what 'sessions ls' tells of a session.
func (d *driver) stored(id broker.SessionID) broker.StoredSession {
	d.t.Helper()
	all := d.allStored()
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	d.t.Fatalf("session %s is not listed: %+v", id, all)
	return broker.StoredSession{}
}

// allStored is what 'sessions ls' tells.
func (d *driver) allStored() []broker.StoredSession {
	d.t.Helper()
	out, errs, code := d.command("sessions", "ls", "--json")
	var list struct{ Sessions []broker.StoredSession }
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != cli.ExitOK {
		d.t.Fatalf("sessions: %v, code %d, %s%s", err, code, out, errs)
	}
	return list.Sessions
}

// quit ends the multiplexer.
func (d *driver) quit() {
	d.t.Helper()
	d.send("\x01")
	d.send("/quit!\r")
	if code := d.exit(2 * time.Minute); code != cli.ExitOK {
		d.t.Errorf("exit code %d", code)
	}
}

// The real agent goes on with its own conversation, in the same session, the same
// workspace and the same audit; first by name, then from the list.
func TestResumeConversation(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	session := d.onlySession()
	d.ask("say alpha-bravo")
	d.see(patience, "● alpha-bravo")
	if _, errs, code := d.command("sessions", "resume", string(session.ID)); code != cli.ExitFailure || !strings.Contains(errs, "is open in a multiplexer") {
		t.Errorf("while it runs: code %d, %s", code, errs)
	}
	if _, errs, code := d.command("sessions", "rm", string(session.ID)); code != cli.ExitFailure || !strings.Contains(errs, "is open in a multiplexer") {
		t.Errorf("removing it while it runs: code %d, %s", code, errs)
	}
	d.quit()

	s := d.stored(session.ID)
	if !s.Begun || s.LastPrompt != "say alpha-bravo" || s.State != broker.StateClosed || s.Owned || s.Detached {
		t.Errorf("after the end: %+v", s)
	}
	next := drive(t, d.home, 110, 40, "demo", "--resume", string(session.ID[:6]))
	next.prompted()
	next.see(patience, "say alpha-bravo") // the conversation of before
	if now := next.stored(session.ID); now.Workspace != session.Workspace || !now.Owned || !now.CreatedAt.Equal(session.CreatedAt) {
		t.Errorf("resumed as %+v", now)
	}
	next.ask("say charlie-delta")
	next.until("an answer", patience, func(screen string) bool { return strings.Count(screen, "charlie-delta") >= 2 })
	next.quit()

	last := drive(t, d.home, 110, 40, "demo", "--agent", "shell")
	last.see(patience, "/workspace$")
	last.send("\x01/resume\r")
	last.see(patience, string(session.ID[:8]), "claude-code", "say charlie", "closed")
	last.send("\r")
	last.prompted()
	last.see(patience, "say alpha-bravo", "say charlie-delta")
	last.quit()
	d.nothingLeft(session.ID)
	d.audit(session.ID)
	if out, errs, code := d.command("sessions", "show", string(session.ID[:8])); code != cli.ExitOK || !strings.Contains(out, `"say charlie-delta"`) {
		t.Errorf("show: code %d, %s%s", code, out, errs)
	}
	if _, errs, code := d.command("sessions", "rm", string(session.ID[:8])); code != cli.ExitOK {
		t.Errorf("rm: code %d, %s", code, errs)
	}
	if out, _, _ := d.command("sessions", "ls"); strings.Contains(out, string(session.ID)) {
		t.Errorf("it is still listed: %s", out)
	}
}
