package tui

import (
	"errors"
	"strings"
	"testing"
)

// A person's keys do what they were bound to, the former ones no longer.
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
		if got := r.m.current().session.Tab; got != step.tab {
			t.Errorf("after %q tab %d is shown, want %d", step.keys, got, step.tab)
		}
	}
	if got := r.queued(1); got != "\x1b2" {
		t.Errorf("the agent got %q", got)
	}
	r.keys("\x01[")
	if r.m.mode != modeCommand || r.m.line.text() != "[" {
		t.Errorf("mode %d, line %q", r.m.mode, r.m.line.text())
	}
	r.keys("\x18")
	if r.m.line.text() != "" {
		t.Errorf("undo left %q", r.m.line.text())
	}
	r.keys("\x19")
	r.wants("x leaves")
	r.keys("q")
	if r.m.mode != modeCopy {
		t.Error("q still leaves copy mode")
	}
	r.keys("x\x01[\x15\x19\x01") // the command key leads out of what it leads into
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

// What is said about keys names those in force, or none.
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

// The command key is taken from whatever else it does by default.
func TestAnyCommandKey(t *testing.T) {
	for _, key := range []string{"ctrl+e", "ctrl+f", "f12", "Ctrl+G"} {
		r := newHarness(t, 80, 24, Options{CommandKey: key})
		bytes := map[string]string{"ctrl+e": "\x05", "ctrl+f": "\x06", "f12": "\x1b[24~", "Ctrl+G": "\x07"}[key]
		r.keys(bytes + "ab" + bytes)
		if r.m.mode != modeTerminal || r.queued(1) != bytes || r.m.line.text() != "ab" {
			t.Errorf("%s: mode %d, the agent got %q, the line holds %q", key, r.m.mode, r.queued(1), r.m.line.text())
		}
		r.keys(bytes + "\x15[" + bytes)
		if r.m.mode != modeTerminal {
			t.Errorf("%s does not leave copy mode", key)
		}
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		commandKey, prefix string
		name               string
		keys               []string
		want               string
	}{
		{name: "copy.pageup", want: "keys.copy.pageup: no such action; there is copy.page-up"},
		{name: "page-up", want: "keys.page-up: no such action; there is panel.page-up, copy.page-up, pick.page-up, help.page-up"},
		{name: "zzz", want: "no such action; 'ironcurtain-mux keys' lists them"},
		{name: "agent.command-line", want: "commandKey of config.json says this key"},
		{name: "agent.prefix", want: "prefix of config.json says this key"},
		{name: "copy.yank", keys: []string{"ctrl+yy"}, want: `"ctrl+yy" is no key; write it like`},
		{name: "copy.yank", keys: []string{"w"}, want: "w is bound to copy.word there too"},
		{name: "copy.leave", keys: []string{"w"}, want: "w is bound to copy.word there too"},
		{name: "copy.yank", keys: []string{"u", "u"}, want: "u is written twice"},
		{name: "copy.yank", keys: []string{"ctrl+a"}, want: "ctrl+a is bound to copy.leave there too"},
		{name: "command.undo", keys: []string{"u"}, want: `"u" types text there`},
		{name: "command.undo", keys: []string{"space"}, want: `"space" types text there`},
		{name: "command.undo", keys: []string{"ctrl+a"}, want: "ctrl+a is the commandKey of config.json"},
		{name: "agent.next", keys: []string{"N"}, want: `"N" types text there`},
		{name: "panel.page", keys: []string{"j"}, want: `"j" types text there`},
		{name: "empty.keys", keys: []string{"/"}, want: `"/" begins a command there`},
		{name: "agent.tab-number", keys: []string{"f1"}, want: "takes nine keys"},
		{name: "question.no", want: "it needs a key"},
		{commandKey: "ctrl+i", want: "commandKey: most terminals send the same for Ctrl-I and Tab"},
		{commandKey: "pgup", want: `commandKey: "pgup" is no key with Ctrl or Alt`},
		{prefix: "Ctrl+A", want: "prefix: this is the command key already"},
		{prefix: "x", want: `prefix: "x" is no key with Ctrl or Alt`},
	} {
		var chosen map[string][]string
		if test.name != "" {
			chosen = map[string][]string{test.name: test.keys}
		}
		err := CheckKeys(test.commandKey, test.prefix, chosen)
		var wrong *KeyError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Each binding has a name of its own, and each key of the default one meaning.
func TestBindingNames(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range keyTable("ctrl+a", "ctrl+b") {
		if seen[b.name()] {
			t.Errorf("%s is twice in the table", b.name())
		}
		seen[b.name()] = true
	}
	for _, a := range BoundActions() {
		if err := CheckKeys("", "ctrl+b", map[string][]string{a.Name: a.Keys}); err != nil && len(a.Keys) > 0 {
			t.Errorf("the keys it has by default: %v", err)
		}
	}
}
