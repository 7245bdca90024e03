package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// KeyError is a choice of keys that cannot be.
type KeyError struct {
	Member string // of config.json: "commandKey", "prefix" or "keys"
	Name   string // the binding, with keys; or empty
	Key    string // the key as it was written; or empty
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

// CheckKeys says why keys cannot be had, as a *KeyError, or nil. An empty command
// key is the default, an empty prefix none; chosen binds other keys to the names
// that Reference lists.
func CheckKeys(commandKey, prefix string, chosen map[string][]string) error {
	_, err := bindKeys(Options{CommandKey: commandKey, Prefix: prefix, Keys: chosen}.withDefaults())
	return err
}

// bindKeys makes the table of the keys in force.
func bindKeys(o Options) ([]binding, error) {
	commandKey, err := freeKey("commandKey", o.CommandKey)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if o.Prefix != "" {
		if prefix, err = freeKey("prefix", o.Prefix); err != nil {
			return nil, err
		}
		if prefix == commandKey {
			return nil, &KeyError{Member: "prefix", Key: o.Prefix, Err: errors.New("this is the command key already")}
		}
	}
	table := keyTable(commandKey, prefix)
	changed := map[string]bool{}
	for _, name := range sortedNames(o.Keys) {
		if err := rebind(table, name, o.Keys[name], commandKey); err != nil {
			return nil, err
		}
		changed[name] = true
	}
	return table, resolveConflicts(table, changed, commandKey)
}

// freeKey is the name of a key that an agent can do without.
func freeKey(member, name string) (string, error) {
	k, ok := keys.Parse(name)
	function := k.Code >= keys.KeyF1 && k.Code <= keys.KeyF12 || k.Code >= keys.KeyF13 && k.Code <= keys.KeyF35
	if !ok || k.Mods&(keys.Ctrl|keys.Alt) == 0 && !function {
		return "", &KeyError{Member: member, Key: name, Err: fmt.Errorf("%q is no key with Ctrl or Alt and no function key; write it like ctrl+b", name)}
	}
	if same := map[string]string{"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+[": "Esc"}[k.String()]; same != "" {
		return "", &KeyError{Member: member, Key: name, Err: fmt.Errorf("most terminals send the same for %s and %s", displayKey(k.String()), same)}
	}
	return keyName(k), nil
}

// rebind gives one binding of the table other keys.
func rebind(table []binding, name string, chosen []string, commandKey string) error {
	fault := func(key, format string, args ...any) error {
		return &KeyError{Member: "keys", Name: name, Key: key, Err: fmt.Errorf(format, args...)}
	}
	i := slices.IndexFunc(table, func(b binding) bool { return b.name() == name })
	if i < 0 {
		return fault("", "no such action%s", nearNames(table, name))
	}
	b := &table[i]
	if b.member() != "" {
		return fault("", "%s of config.json says this key", b.member())
	}
	names := []string{}
	for _, key := range chosen {
		k, ok := keys.Parse(key)
		if !ok {
			return fault(key, "%q is no key; write it like ctrl+b, pgup, f5 or A", key)
		}
		types := k.Mods&^keys.Shift == 0 && k.Text != "" || k == keys.Key{Code: keys.KeySpace}
		switch {
		case types && (b.place == placeTerminal || b.place == placeStarting || b.place == placeCommand || b.place == placePanel):
			return fault(key, "%q types text there", key)
		case b.place == placeEmpty && k.String() == "/":
			return fault(key, "\"/\" begins a command there")
		}
		names = append(names, keyName(k))
	}
	switch {
	case b.action == actTab && len(names) != 9 && len(names) != 0:
		return fault("", "takes nine keys, for the tabs 1 to 9, or none")
	case len(names) == 0 && (b.place == placeQuestion || b.place == placeCommand && (b.action == actEnter || b.action == actLeave)):
		return fault("", "nothing else does this; it needs a key")
	}
	if slices.Contains(b.Keys(), commandKey) && !slices.Contains(names, commandKey) {
		names = append(names, commandKey) // it leads out of everything it leads into
	}
	b.SetKeys(names...)
	return nil
}

// resolveConflicts makes each key mean one thing in its place. What config.json says takes
// a key from what it is by default when that is the command key or the prefix;
// any other key that means two things is an error.
func resolveConflicts(table []binding, changed map[string]bool, commandKey string) error {
	owner := map[place]map[string]int{}
	for i, b := range table {
		if owner[b.place] == nil {
			owner[b.place] = map[string]int{}
		}
		if b.member() == "" {
			continue
		}
		for _, k := range b.Keys() {
			owner[b.place][k] = i
		}
	}
	for i := range table {
		b := &table[i]
		if b.member() != "" {
			continue
		}
		kept := []string{}
		for _, k := range b.Keys() {
			j, taken := owner[b.place][k]
			switch {
			case !taken:
				owner[b.place][k] = i
				kept = append(kept, k)
			case k == commandKey && !changed[b.name()]: // it was taken
			case j == i && changed[b.name()]:
				return &KeyError{Member: "keys", Name: b.name(), Key: k, Err: fmt.Errorf("%s is written twice", k)}
			case changed[b.name()]:
				return &KeyError{Member: "keys", Name: b.name(), Key: k, Err: conflict(k, table[j])}
			case changed[table[j].name()]:
				return &KeyError{Member: "keys", Name: table[j].name(), Key: k, Err: conflict(k, *b)}
			}
		}
		b.SetKeys(kept...)
	}
	return nil
}

// conflict says that a key does something else already.
func conflict(key string, other binding) error {
	if other.member() != "" {
		return fmt.Errorf("%s is the %s of config.json", key, other.member())
	}
	return fmt.Errorf("%s is bound to %s there too; give that other keys", key, other.name())
}

// nearNames proposes the names that somebody may have meant: those spelled almost
// so, with or without their place.
func nearNames(table []binding, name string) string {
	var near []string
	for _, b := range table {
		full := b.name()
		_, tail, _ := strings.Cut(full, ".")
		if b.member() == "" && min(distance(name, full), distance(name, tail)) <= 2 {
			near = append(near, full)
		}
	}
	if len(near) == 0 {
		return "; 'ironcurtain-mux keys' lists them"
	}
	return "; there is " + strings.Join(near, ", ")
}

// distance counts the letters to change, insert or delete to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func sortedNames(chosen map[string][]string) []string {
	var out []string
	for name := range chosen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// keymap answers which action a key has in a place.
type keymap map[place]map[string]action

func newKeymap(table []binding) keymap {
	m := keymap{}
	for _, b := range table {
		if m[b.place] == nil {
			m[b.place] = map[string]action{}
		}
		for _, k := range b.Keys() {
			m[b.place][k] = b.action
		}
	}
	return m
}

// keyFor is the first key of an action, for people, or an empty string.
func (m *Model) keyFor(p place, a action) string {
	for _, b := range m.table {
		if b.place == p && b.action == a && len(b.Keys()) > 0 {
			return displayKey(b.Keys()[0])
		}
	}
	return ""
}

// hint says what a key does here, or nothing when no key does it.
func (m *Model) hint(p place, a action, does string) string {
	if key := m.keyFor(p, a); key != "" {
		return key + " " + does
	}
	return ""
}
