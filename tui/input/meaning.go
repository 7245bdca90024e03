package input

import "github.com/ironcurtain-mux/ironcurtain-mux/term/keys"

// KeyState is the part of the multiplexer's state on which the meaning of a key depends.
type KeyState struct {
	Agent    bool // there is a focused agent, and it has the keyboard
	Free     bool // no mode and no question has the keyboard
	Prefixed bool // the prefix key was pressed before
	Again    bool // a key that repeats followed the prefix a moment ago
	Starting bool // the agent's terminal was not reached yet
	Ours     bool // the key is held, and its press was for the multiplexer
	Pending  bool // something on the screen goes away with the next key to an agent
}

// Meaning says for whom a key is, and what the multiplexer does with it.
type Meaning struct {
	Kind   MeaningKind
	Place  Place  // the place in whose bindings Action was found
	Action Action // when Kind is MeansAction; empty: the key does nothing there
	Name   string // the key's name, when it was looked up in the bindings
}

// MeaningKind says for whom a key is.
type MeaningKind uint8

// What a key can mean.
const (
	MeansNothing MeaningKind = iota // for the agent; it means nothing to the multiplexer
	MeansTyping                     // for the agent; the multiplexer's own state changes too
	MeansNobody                     // for nobody: it is dropped
	MeansAction                     // for the multiplexer, while an agent has the keyboard
	MeansMode                       // for the mode or the question that has the keyboard
	MeansTwo                        // two keys: Esc, followed directly by one for the multiplexer
)

// Meaning returns what a key means in a state. It changes nothing and allocates nothing,
// because the fast path of a key calls it as well as the event loop.
func (m *Keys) Meaning(s KeyState, ev keys.Event) Meaning {
	k := ev.Key
	if m.splits(ev) {
		return Meaning{Kind: MeansTwo}
	}
	release := k.Action == keys.Release
	switch {
	case release && s.Ours:
		return Meaning{Kind: MeansNobody}
	case !s.Free && (release || k.IsModifier()):
		return Meaning{Kind: MeansNobody}
	case !s.Free:
		return Meaning{Kind: MeansMode}
	}
	out := Meaning{}
	if !release {
		out.Name = KeyName(k)
		out.Place, out.Action = m.actionAtAgent(s, k, out.Name)
	}
	switch {
	case out.Place != "":
		out.Kind = MeansAction
	case !s.Agent, s.Ours && k.Action == keys.Repeat:
		out.Kind = MeansNobody
	case s.Ours || s.Pending && !release && !k.IsModifier():
		out.Kind = MeansTyping
	}
	return out
}

// actionAtAgent returns what a key does while an agent has the keyboard, and the place
// where it is bound; both are empty when the key is not bound. After the prefix key every
// key is for the multiplexer, also one that does nothing there.
func (m *Keys) actionAtAgent(s KeyState, k keys.Key, name string) (Place, Action) {
	if s.Prefixed && !k.IsModifier() {
		return PlacePrefix, m.At(PlacePrefix, name)
	}
	if a := m.At(PlacePrefix, name); s.Again && a.Repeats() {
		return PlacePrefix, a
	}
	if a := m.At(PlaceTerminal, name); a != "" {
		return PlaceTerminal, a
	}
	if a := m.At(PlaceStarting, name); s.Starting && a != "" {
		return PlaceStarting, a
	}
	return "", ""
}

// splits reports whether an event is Esc followed directly by the command key or the
// prefix. Most terminals send the same two bytes for that as for the one key with Alt. If
// the event were taken for the key with Alt, the command key would do nothing. Terminals
// that report keys unambiguously send other bytes.
func (m *Keys) splits(ev keys.Event) bool {
	if len(ev.Raw) != 2 || ev.Raw[0] != 0x1b || ev.Key.Mods&keys.Alt == 0 || m.At(PlaceTerminal, KeyName(ev.Key)) != "" {
		return false
	}
	k := ev.Key
	k.Mods &^= keys.Alt
	a := m.At(PlaceTerminal, KeyName(k))
	return a == ActCommand || a == ActPrefix
}

// SplitEscape returns the two keys of an event of kind MeansTwo.
func SplitEscape(ev keys.Event) (esc, key keys.Event) {
	esc = keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: keys.KeyEscape}, Raw: ev.Raw[:1]}
	key = ev
	key.Raw = ev.Raw[1:]
	key.Key.Mods &^= keys.Alt
	return esc, key
}
