package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An agent whose budget is spent is stopped with an error that it understands,
// and goes on once its person lets it use more.
func TestBudgetStop(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(`{"budget":{"requests":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 110, 40, "demo")
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for agents") ||
			strings.Contains(screen, "for shortcuts")
	})
	d.ask("hello")
	d.until("the answer", time.Minute, func(screen string) bool {
		return strings.Contains(screen, "I am a script") && !working.MatchString(screen)
	})
	d.ask("hello again")
	d.see(time.Minute, "The budget of this session is spent: 1 requests of 1 requests", "/budget +50 requests")

	d.send("\x01/budget +500 requests\r")
	d.see(10*time.Second, "may use $5.00, 501 requests now")
	d.until("the end of the turn", time.Minute, func(screen string) bool { return !working.MatchString(screen) })
	d.ask("read hello.txt")
	d.until("an answer", time.Minute, func(screen string) bool {
		return strings.Contains(screen, "Done: read") || strings.Contains(screen, "is not connected")
	})
	d.send("\x01/budget\r")
	d.see(10*time.Second, "what was used of the models", "all sessions there ever were", "$5.00, 501 requests")
	id := d.onlySession().ID
	d.send("q\x01/quit!\r")
	if code := d.exit(60 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{"used.json", filepath.Join("sessions", string(id), "budget.json")} {
		text, err := os.ReadFile(filepath.Join(state, name))
		if err != nil || !strings.Contains(string(text), `"requests"`) {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}
