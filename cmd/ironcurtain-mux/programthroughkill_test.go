package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The multiplexer is killed while a program of the built-in agent waits at the third of its five
// calls. In the next one the session is resumed, and the program goes on where it was: what it
// had read it does not read again, and what is approved happens once.
func TestBuiltinKilled(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	d := openBuiltin(t, home, "--agent", "builtin")
	d.idle()
	session := d.onlySession()
	notes := d.state("demo", "outside", "notes.txt")
	content := func() string {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := content()
	d.ask("batch 4 " + notes)
	d.see(patience, "1 waiting")
	asked := d.waiting(func(e broker.Escalation) bool { return !e.Restored })

	d.killAll(true)
	next := openBuiltin(t, home) // the conversation is back by itself
	again := next.waiting(func(e broker.Escalation) bool { return e.Restored && !e.Unclaimed })
	if again.ID != asked.ID || again.Digest != asked.Digest || again.Effect == nil || again.Effect.Changed || content() != before {
		t.Errorf("asked\n%+v\nagain\n%+v\n%s", asked, again, content())
	}
	if out, errs, code := next.command("approve", again.ID); code != 0 {
		t.Fatalf("approve: %s%s", out, errs)
	}
	next.see(patience, "program 1", "Done: read hello.txt 4 times", "4 reads")
	if content() != "2 reads\n" || strings.Contains(next.text(), "INTERRUPTED") {
		t.Errorf("the file has %q:\n%s", content(), next.text())
	}

	// The same once more, and this time it is denied as soon as it is there, whether the agent is
	// back by then or not.
	next.ask("batch 4 " + notes)
	next.see(patience, "1 waiting")
	next.killAll(true)
	last := openBuiltin(t, home)
	again = last.waiting(func(e broker.Escalation) bool { return e.Restored })
	if out, errs, code := last.command("deny", again.ID); code != 0 {
		t.Fatalf("deny: %s%s", out, errs)
	}
	last.see(patience, "program 2", "a person denied filesystem/write_file")
	if content() != "2 reads\n" {
		t.Errorf("the file has %q", content())
	}
	last.ask("say still here")
	last.see(patience, "still here")
	last.quit()
	record := last.audit(session.ID)
	for what, n := range map[string]int{
		`"escalated-approved"`: 1, "it is run again, and 2 of its calls": 2,
		`"tool":"read_text_file","arguments":`: 4 + 2, `"tool":"execute","arguments":`: 2,
	} {
		if got := strings.Count(record, what); got != n {
			t.Errorf("%d of %s on record, not %d:\n%s", got, what, n, record)
		}
	}
	for _, dir := range []string{"waiting", "journals"} {
		if left, err := os.ReadDir(last.state("sessions", session.ID, dir)); err == nil && len(left) > 0 {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
}
