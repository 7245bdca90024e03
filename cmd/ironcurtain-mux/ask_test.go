package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
)

// An endpoint that config.json marks is asked about: the request stands in the
// panel beside tool calls, and goes on when the person lets it.
func TestRequestsWaitForAPerson(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	model, err := scripted.Start(t.Context(), scripted.WithDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	loginAt(t, home, model)
	config := `{"providers": [{"name": "anthropic", "hosts": [{"name": "api.anthropic.com", "baseUrl": "` + model.URL() + `",
		"endpoints": [{"method": "POST", "path": "/v1/messages", "ask": true}]}]}]}`
	if err := os.MkdirAll(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "state", "config.json"), []byte(withWay(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 110, 40, moved(t, home, model)...) // the authority alone: the configuration moves the host
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for shortcuts")
	})
	session := d.onlySession()
	d.ask("say let-through")
	d.see(patience, "waiting")
	for _, r := range model.Requests() {
		if strings.HasPrefix(r.Path, "/v1/messages") {
			t.Errorf("the model saw %s before anybody approved", r.Path)
		}
	}
	d.send("\x01")
	d.see(patience, "api.anthropic.com / POST /v1/messages", "https://api.anthropic.com/v1/messages")
	d.send("\x1b")
	decided := map[string]bool{}
	d.until("the answer", patience, func(screen string) bool {
		for _, e := range d.pending() {
			if _, errs, code := d.command("approve", e.ID); code != 0 {
				t.Fatal(errs)
			}
			decided[e.Digest] = true
		}
		return strings.Count(screen, "let-through") > 1
	})
	d.send("\x01")
	d.send("/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	record := d.audit(session.ID)
	for digest := range decided {
		if !strings.Contains(record, digest) {
			t.Errorf("the audit does not mention the request %s", digest)
		}
	}
	if len(decided) == 0 || !strings.Contains(record, `"decision":"escalated-approved"`) || !strings.Contains(record, `"decidedBy":"cli"`) {
		t.Errorf("%d requests were approved; the audit:\n%s", len(decided), record)
	}
}
