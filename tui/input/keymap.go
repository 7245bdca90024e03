package input

import "slices"

// Keys says what each key does in each place.
type Keys struct {
	CommandKey string // its name, as KeyName gives it
	Prefix     string // empty: none
	table      []Binding
	byName     map[Place]map[string]Action
}

// Bind makes the keys for a choice. For a choice that is not possible it returns a
// *KeyError.
func Bind(c Choice) (*Keys, error) {
	c = c.normal()
	table, err := bindKeys(c)
	if err != nil {
		return nil, err
	}
	m := &Keys{CommandKey: c.CommandKey, Prefix: c.Prefix, table: table, byName: map[Place]map[string]Action{}}
	for _, b := range table {
		if m.byName[b.Place] == nil {
			m.byName[b.Place] = map[string]Action{}
		}
		for _, k := range b.Keys() {
			m.byName[b.Place][k] = b.action
		}
	}
	return m, nil
}

// At returns what a key does in a place; empty when it does nothing.
func (m *Keys) At(p Place, name string) Action { return m.byName[p][name] }

// Bindings returns all bindings, in the order of the help screen.
func (m *Keys) Bindings() []Binding { return m.table }

// NumberOf returns the position of a key, from 1, among the keys of its action: for
// ActTab, the number of the tab.
func (m *Keys) NumberOf(p Place, a Action, name string) int {
	n := 0
	for _, b := range m.table {
		if b.Place == p && b.action == a {
			n = 1 + slices.Index(b.Keys(), name)
		}
	}
	return n
}

// KeyFor returns the first key of an action as people write it, or an empty string when
// the action has no key.
func (m *Keys) KeyFor(p Place, a Action) string {
	for _, b := range m.table {
		if b.Place == p && b.action == a && len(b.Keys()) > 0 {
			return DisplayKey(b.Keys()[0])
		}
	}
	return ""
}

// Hint names the key of an action and what it does; it is empty when the action has no
// key.
func (m *Keys) Hint(p Place, a Action, does string) string {
	if key := m.KeyFor(p, a); key != "" {
		return key + " " + does
	}
	return ""
}

// BoundAction is something that keys can be bound to.
type BoundAction struct {
	Name string   // as in config.json: "copy.page-up"
	Keys []string // the default keys: "pgup"
	Does string
}

// BoundActions lists what the member "keys" of config.json can name, in the order of
// the help screen.
func BoundActions() []BoundAction {
	c := Choice{}.normal()
	var out []BoundAction
	for _, b := range keyTable(c.CommandKey, c.Prefix) {
		if b.Member() == "" {
			out = append(out, BoundAction{b.Name(), append([]string{}, b.Keys()...), b.Help().Desc + " (" + string(b.Place) + ")"})
		}
	}
	return out
}

// NonEmpty returns the hints that are not empty.
func NonEmpty(hints ...string) []string {
	return slices.DeleteFunc(hints, func(h string) bool { return h == "" })
}
