package input

import "slices"

// Keys are the keys that hold: what each means in each place.
type Keys struct {
	CommandKey string // as it is named, and as people write it
	Prefix     string // empty: none
	table      []Binding
	byName     map[Place]map[string]Action
}

// Bind makes the keys of a choice. A choice that cannot be is a *KeyError.
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

// At is what a key does in a place; empty: nothing.
func (m *Keys) At(p Place, name string) Action { return m.byName[p][name] }

// Bindings are all of them, in the order of the help screen.
func (m *Keys) Bindings() []Binding { return m.table }

// NumberOf is which one a key is among those of its action: the number of a tab.
func (m *Keys) NumberOf(p Place, a Action, name string) int {
	n := 0
	for _, b := range m.table {
		if b.Place == p && b.action == a {
			n = 1 + slices.Index(b.Keys(), name)
		}
	}
	return n
}

// KeyFor is the first key of an action, for people, or an empty string.
func (m *Keys) KeyFor(p Place, a Action) string {
	for _, b := range m.table {
		if b.Place == p && b.action == a && len(b.Keys()) > 0 {
			return DisplayKey(b.Keys()[0])
		}
	}
	return ""
}

// Hint says what a key does here, or nothing when no key does it.
func (m *Keys) Hint(p Place, a Action, does string) string {
	if key := m.KeyFor(p, a); key != "" {
		return key + " " + does
	}
	return ""
}

// BoundAction is something that keys can be bound to.
type BoundAction struct {
	Name string   // as in config.json: "copy.page-up"
	Keys []string // that do it when nobody has chosen others: "pgup"
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

// NonEmpty are the hints that there are.
func NonEmpty(hints ...string) []string {
	return slices.DeleteFunc(hints, func(h string) bool { return h == "" })
}
