package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// The window's title names the tab that is shown. The title that an agent sets comes only at
// its end, and cannot change it all the time.
func TestWindowTitle(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	pass := func() {
		r.now = r.now.Add(titleEvery)
		r.send(retitleMsg{})
	}
	pass()
	for _, title := range []string{"one", "two", "th\x1b[31mree\u202e"} {
		r.send(paneMsg{"s1", term.Event{Kind: term.EventTitle, Title: title}})
	}
	pass()
	r.keys("\x01/new shell\r")
	pass()
	r.send(paneMsg{"s1", term.Event{Kind: term.EventTitle, Title: "hidden"}})
	pass()
	r.escalate(1, `{}`, "")
	pass()
	want := []string{
		"ironcurtain-mux", "ironcurtain-mux · 1 claude-code",
		`ironcurtain-mux · 1 claude-code: th\e[31mree\u{202e}`,
		"ironcurtain-mux · 2 shell", "1 waiting · ironcurtain-mux · 2 shell",
	}
	if diff := cmp.Diff(want, r.titles); diff != "" {
		t.Error(diff)
	}
}
