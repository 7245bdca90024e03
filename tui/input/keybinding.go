package input

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// KeyError is the error of a choice of keys that is not possible.
type KeyError struct {
	Member string // of config.json: "commandKey", "prefix" or "keys"
	Name   string // the binding, when Member is "keys"; or empty
	Key    string // the key as the person wrote it; or empty
	Err    error
}

func (e *KeyError) Error() string {
	at := e.Member
	if e.Name != "" {
		at += "." + e.Name
	}
	return at + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// Choice is the keys that a person chose. The zero value chooses the default keys.
type Choice struct {
	CommandKey string              // opens the command line; empty: ctrl+a
	Prefix     string              // a tmux-like prefix key; empty: none
	Keys       map[string][]string // keys for actions, by the names that BoundActions lists
}

// normal fills in the default command key, and spells each key as KeyName does. It does not
// change a name that is not a key; bindKeys refuses it.
func (c Choice) normal() Choice {
	if c.CommandKey == "" {
		c.CommandKey = "ctrl+a"
	}
	for _, name := range []*string{&c.CommandKey, &c.Prefix} {
		if k, ok := keys.Parse(*name); ok {
			*name = KeyName(k)
		}
	}
	return c
}

// bindKeys makes the table of all bindings for a choice.
func bindKeys(c Choice) ([]Binding, error) {
	commandKey, err := freeKey("commandKey", c.CommandKey)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if c.Prefix != "" {
		if prefix, err = freeKey("prefix", c.Prefix); err != nil {
			return nil, err
		}
		if prefix == commandKey {
			return nil, &KeyError{Member: "prefix", Key: c.Prefix, Err: errors.New("this is already the command key")}
		}
	}
	table := keyTable(commandKey, prefix)
	changed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Keys)) {
		if err := rebind(table, name, c.Keys[name], commandKey); err != nil {
			return nil, err
		}
		changed[name] = true
	}
	return table, resolveConflicts(table, changed, commandKey)
}

// freeKey returns the name of a key that the multiplexer may take from the agent: one
// with Ctrl or Alt, or a function key.
func freeKey(member, name string) (string, error) {
	k, ok := keys.Parse(name)
	function := k.Code >= keys.KeyF1 && k.Code <= keys.KeyF12 || k.Code >= keys.KeyF13 && k.Code <= keys.KeyF35
	if !ok || k.Mods&(keys.Ctrl|keys.Alt) == 0 && !function {
		return "", &KeyError{Member: member, Key: name, Err: fmt.Errorf("%q is neither a key with Ctrl or Alt nor a function key; write it like ctrl+b", name)}
	}
	if same := map[string]string{"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+[": "Esc"}[k.String()]; same != "" {
		return "", &KeyError{Member: member, Key: name, Err: fmt.Errorf("most terminals send the same for %s and %s", DisplayKey(k.String()), same)}
	}
	return KeyName(k), nil
}

// rebind sets the keys of the binding with this name to those that a person chose.
func rebind(table []Binding, name string, chosen []string, commandKey string) error {
	fault := func(key, format string, args ...any) error {
		return &KeyError{Member: "keys", Name: name, Key: key, Err: fmt.Errorf(format, args...)}
	}
	i := slices.IndexFunc(table, func(b Binding) bool { return b.Name() == name })
	if i < 0 {
		return fault("", "no such action%s", nearNames(table, name))
	}
	b := &table[i]
	if b.Member() != "" {
		return fault("", "this key is set by %s of config.json", b.Member())
	}
	names := []string{}
	for _, key := range chosen {
		k, ok := keys.Parse(key)
		if !ok {
			return fault(key, "%q is no key; write it like ctrl+b, pgup, f5 or A", key)
		}
		types := k.Mods&^keys.Shift == 0 && k.Text != "" || k == keys.Key{Code: keys.KeySpace}
		switch {
		case types && (b.Place == PlaceTerminal || b.Place == PlaceStarting || b.Place == PlaceCommand || b.Place == PlacePanel || b.Place == PlaceMenu || b.Place == PlaceSearch):
			return fault(key, "%q types text in this place", key)
		case b.action == ActApprove && (k.Code == keys.KeyEnter || k.Code == keys.KeySpace):
			return fault(key, "%q is pressed too easily to approve a call", key)
		case b.Place == PlaceEmpty && k.String() == "/":
			return fault(key, "\"/\" begins a command in this place")
		}
		names = append(names, KeyName(k))
	}
	switch {
	case b.action == ActTab && len(names) != 9 && len(names) != 10 && len(names) != 0:
		return fault("", "this action needs nine keys, for the tabs 1 to 9, or ten, or none")
	case len(names) == 0 && (b.Place == PlaceQuestion || b.Place == PlaceHere || b.Place == PlaceCommand && (b.action == ActEnter || b.action == ActLeave)):
		return fault("", "this action needs a key, because no other key does the same")
	}
	if slices.Contains(b.Keys(), commandKey) && !slices.Contains(names, commandKey) {
		names = append(names, commandKey) // the command key also closes what it opens
	}
	b.SetKeys(names...)
	return nil
}

// resolveConflicts makes each key mean one thing in its place. The command key and the
// prefix replace an action's default use of the same key. Any other key that means two
// things is an error.
func resolveConflicts(table []Binding, changed map[string]bool, commandKey string) error {
	owner := map[Place]map[string]int{}
	for i, b := range table {
		if owner[b.Place] == nil {
			owner[b.Place] = map[string]int{}
		}
		if b.Member() == "" {
			continue
		}
		for _, k := range b.Keys() {
			owner[b.Place][k] = i
		}
	}
	for i := range table {
		b := &table[i]
		if b.Member() != "" {
			continue
		}
		kept := []string{}
		for _, k := range b.Keys() {
			j, taken := owner[b.Place][k]
			switch {
			case !taken:
				owner[b.Place][k] = i
				kept = append(kept, k)
			case k == commandKey && !changed[b.Name()]: // the action loses this key
			case j == i && changed[b.Name()]:
				return &KeyError{Member: "keys", Name: b.Name(), Key: k, Err: fmt.Errorf("%s is written twice", k)}
			case changed[b.Name()]:
				return &KeyError{Member: "keys", Name: b.Name(), Key: k, Err: conflict(k, table[j])}
			case changed[table[j].Name()]:
				return &KeyError{Member: "keys", Name: table[j].Name(), Key: k, Err: conflict(k, *b)}
			}
		}
		b.SetKeys(kept...)
	}
	return nil
}

// conflict is the error of a key that does something else already.
func conflict(key string, other Binding) error {
	if other.Member() != "" {
		return fmt.Errorf("%s is the %s of config.json", key, other.Member())
	}
	return fmt.Errorf("%s is also bound to %s; bind %[2]s to other keys", key, other.Name())
}

// nearNames proposes the names that somebody may have meant: those with the most similar
// spelling. If name has no place, only the actions of the names are compared.
func nearNames(table []Binding, name string) string {
	var full, written []string
	for _, b := range table {
		if b.Member() != "" {
			continue
		}
		full, written = append(full, b.Name()), append(written, b.Name())
		if !strings.Contains(name, ".") {
			_, written[len(written)-1], _ = strings.Cut(b.Name(), ".")
		}
	}
	alike, near := text.Near(name, slices.Compact(slices.Sorted(slices.Values(written)))), []string(nil)
	for i := range full {
		if slices.Contains(alike, written[i]) {
			near = append(near, full[i])
		}
	}
	if len(near) == 0 {
		return "; 'ironcurtain-mux keys' lists them"
	}
	return "; there is " + strings.Join(near, ", ")
}
