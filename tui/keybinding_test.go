package tui

import (
	"strings"
	"testing"
)

// The keys that a person chose do what they are bound to, and the default keys no longer do.
func TestChosenKeys(t *testing.T) {
	r := newHarness(t, 120, 24, Options{Keys: map[string][]string{
		"agent.next":       {"Ctrl+PgDown"},
		"agent.tab-number": {"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9"},
		"copy.leave":       {"x"},
		"empty.copy-mode":  {"ctrl+y"},
		"command.undo":     {"ctrl+x"},
		"question.yes":     {"Y"},
	}})
	r.keys("\x01/new shell\r")
	for _, step := range []struct {
		keys string
		tab  int
	}{{"\x1b[6;5~", 1}, {"\x1bOQ", 2}, {"\x1bOP", 1}, {"\x1b2", 1}} {
		r.keys(step.keys)
		if got := r.m.place(r.m.current()); got != step.tab {
			t.Errorf("after %q tab %d is shown, want %d", step.keys, got, step.tab)
		}
	}
	if got := r.queued(1); got != "\x1b2" {
		t.Errorf("the agent got %q", got)
	}
	r.keys("\x01[")
	if r.m.mode != modeCommand || r.m.line.Text() != "[" {
		t.Errorf("mode %d, line %q", r.m.mode, r.m.line.Text())
	}
	r.keys("\x18")
	if r.m.line.Text() != "" {
		t.Errorf("undo left %q", r.m.line.Text())
	}
	r.keys("\x19")
	r.wants("x leaves")
	r.keys("q")
	if r.m.mode != modeCopy {
		t.Error("q still leaves copy mode")
	}
	r.keys("x\x01[\x15\x19\x01") // the command key also closes what it opens
	if r.m.mode != modeTerminal {
		t.Errorf("mode %d", r.m.mode)
	}
	r.keys("\x01/quit\ry")
	if r.quit {
		t.Error("y still is yes")
	}
	r.keys("Y")
	if !r.quit {
		t.Error("Y is not yes")
	}
}

// Hints name the keys that the person chose; an action without a key has no hint.
func TestHintsNameChosenKeys(t *testing.T) {
	for _, test := range []struct {
		keys map[string][]string
		want string
	}{
		{nil, "(PgDn shows more, or /deny it)"},
		{map[string][]string{"panel.page": {"f5"}}, "(F5 shows more, or /deny it)"},
		{map[string][]string{"panel.page": {}}, "(scroll to see all, or /deny it)"},
	} {
		r := newHarness(t, 100, 12, Options{Keys: test.keys})
		r.escalate(1, `{"content":"`+strings.Repeat(`line\n`, 40)+`"}`, "")
		r.keys("\x01")
		r.paint()
		r.keys("/approve\r")
		r.wants(test.want)
	}
}

// A key that becomes the command key loses what it does by default.
func TestAnyCommandKey(t *testing.T) {
	for _, key := range []string{"ctrl+e", "ctrl+f", "f12", "Ctrl+G"} {
		r := newHarness(t, 80, 24, Options{CommandKey: key})
		bytes := map[string]string{"ctrl+e": "\x05", "ctrl+f": "\x06", "f12": "\x1b[24~", "Ctrl+G": "\x07"}[key]
		r.keys(bytes + "ab" + bytes)
		if r.m.mode != modeTerminal || r.queued(1) != bytes || r.m.line.Text() != "ab" {
			t.Errorf("%s: mode %d, the agent got %q, the line holds %q", key, r.m.mode, r.queued(1), r.m.line.Text())
		}
		r.keys(bytes + "\x15[" + bytes)
		if r.m.mode != modeTerminal {
			t.Errorf("%s does not leave copy mode", key)
		}
	}
}
