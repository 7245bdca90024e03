package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// One key approves the call that the person has gone to in the panel, and the record says that it was
// one key.
func TestOneKeyApproves(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	notes := d.state("demo", "outside", "notes.txt")
	d.ask("write " + notes + " one-key")
	d.see(patience, "waiting", "#1 waits")
	d.send("\x01")
	d.see(patience, "approval 1/1", "Tab y/n")
	d.send("\t")
	d.see(patience, " y approve ", "y approves")
	// A key right behind Tab decides nothing; the person presses again until one does.
	for end := time.Now().Add(patience); time.Now().Before(end) && len(d.pending()) > 0; {
		d.send("y")
		<-time.After(1200 * time.Millisecond)
	}
	d.see(patience, "#1 approved by you with one key")
	d.until("the file is written", patience, func(string) bool {
		text, err := os.ReadFile(notes)
		return err == nil && string(text) == "one-key"
	})
	session := d.onlySession()
	record, err := os.ReadFile(d.state("sessions", string(session.ID), "audit.jsonl"))
	if err != nil || !strings.Contains(string(record), `"decidedBy":"tui-key"`) {
		t.Errorf("on record: %v\n%s", err, record)
	}
	if out, errs, code := d.command("audit", "tail"); code != 0 || !strings.Contains(out, "one key") && !strings.Contains(out, "tui-key") {
		t.Errorf("audit tail: code %d, %s%s", code, out, errs)
	}
}
