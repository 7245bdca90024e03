package reach_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
)

// Reports are stored by engine and version, and a broken file is replaced.
func TestWhatWasSeenIsNoted(t *testing.T) {
	dir := t.TempDir()
	w := &reach.Ways{Path: filepath.Join(dir, "engines.json")}
	if _, ok := w.Seen("unix:///a", "1"); ok {
		t.Error("something is noted")
	}
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	first := reach.LastSeen{User: "1000 in the container and outside", Isolation: "no network", At: at}
	note := func(l reach.LastSeen) {
		t.Helper()
		if err := w.NoteSeen("unix:///a", "1", l); err != nil {
			t.Error(err)
		}
	}
	expect := func(want reach.LastSeen) {
		t.Helper()
		if got, ok := w.Seen("unix:///a", "1"); !ok || got != want {
			t.Errorf("noted %+v", got)
		}
	}
	note(first)
	expect(first)
	if _, ok := w.Seen("unix:///a", "2"); ok {
		t.Error("it is noted of another version")
	}
	soon := first
	soon.At = at.Add(time.Hour)
	note(soon) // nothing is new
	expect(first)
	soon.Isolation, soon.Differs = "no network; memory is NOT limited", true
	note(soon)
	expect(soon)
	if err := w.NoteRate("unix:///a", "1", 1<<20); err != nil {
		t.Error(err)
	}
	note(soon) // it says nothing of the rate
	soon.Rate = 1 << 20
	expect(soon)
	if err := os.WriteFile(filepath.Join(dir, "reports.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := w.Seen("unix:///a", "1"); ok {
		t.Error("a broken file is read")
	}
	note(first)
	expect(first)
}
