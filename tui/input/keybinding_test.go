package input

import (
	"errors"
	"strings"
	"testing"
)

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
		{name: "agent.command-line", want: "this key is set by commandKey of config.json"},
		{name: "agent.prefix", want: "this key is set by prefix of config.json"},
		{name: "copy.yank", keys: []string{"ctrl+yy"}, want: `"ctrl+yy" is no key; write it like`},
		{name: "copy.yank", keys: []string{"w"}, want: "w is also bound to copy.word; bind copy.word to other keys"},
		{name: "copy.leave", keys: []string{"w"}, want: "w is also bound to copy.word; bind copy.word to other keys"},
		{name: "copy.yank", keys: []string{"u", "u"}, want: "u is written twice"},
		{name: "copy.yank", keys: []string{"ctrl+a"}, want: "ctrl+a is also bound to copy.leave"},
		{name: "command.undo", keys: []string{"u"}, want: `"u" types text in this place`},
		{name: "command.undo", keys: []string{"space"}, want: `"space" types text in this place`},
		{name: "command.undo", keys: []string{"ctrl+a"}, want: "ctrl+a is the commandKey of config.json"},
		{name: "agent.next", keys: []string{"N"}, want: `"N" types text in this place`},
		{name: "panel.page", keys: []string{"j"}, want: `"j" types text in this place`},
		{name: "empty.keys", keys: []string{"/"}, want: `"/" begins a command in this place`},
		{name: "agent.tab-number", keys: []string{"f1"}, want: "this action needs nine keys"},
		{name: "question.no", want: "this action needs a key"},
		{commandKey: "ctrl+i", want: "commandKey: most terminals send the same for Ctrl-I and Tab"},
		{commandKey: "pgup", want: `commandKey: "pgup" is neither a key with Ctrl or Alt`},
		{prefix: "Ctrl+A", want: "prefix: this is already the command key"},
		{prefix: "x", want: `prefix: "x" is neither a key with Ctrl or Alt`},
	} {
		var chosen map[string][]string
		if test.name != "" {
			chosen = map[string][]string{test.name: test.keys}
		}
		_, err := Bind(Choice{CommandKey: test.commandKey, Prefix: test.prefix, Keys: chosen})
		var wrong *KeyError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Each binding has a name of its own, and each default key has one meaning in its place.
func TestBindingNames(t *testing.T) {
	seen := map[string]bool{}
	bound := map[Place]map[string]bool{}
	for _, b := range keyTable("ctrl+a", "ctrl+b") {
		for _, k := range b.Keys() {
			if bound[b.Place] == nil {
				bound[b.Place] = map[string]bool{}
			}
			if bound[b.Place][k] {
				t.Errorf("%s is bound twice %s", k, b.Place)
			}
			bound[b.Place][k] = true
		}
		if seen[b.Name()] {
			t.Errorf("%s is twice in the table", b.Name())
		}
		seen[b.Name()] = true
	}
	for _, a := range BoundActions() {
		if _, err := Bind(Choice{Prefix: "ctrl+b", Keys: map[string][]string{a.Name: a.Keys}}); err != nil && len(a.Keys) > 0 {
			t.Errorf("the keys it has by default: %v", err)
		}
	}
}
