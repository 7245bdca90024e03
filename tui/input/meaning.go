package input

import "github.com/ironcurtain-mux/ironcurtain-mux/term/keys"

// KeyState is all of the multiplexer's state that decides what a key means to it.
type KeyState struct {
	Agent    bool // the focused agent has the keyboard, and there is one
	Free     bool // no mode and no question has the keyboard
	Prefixed bool // the prefix key was pressed before
	Starting bool // the agent's terminal was not reached yet
	Ours     bool // the key is held, and its press was the multiplexer's
	Pending  bool // something on the screen ends with the next key to an agent
}

// Meaning is what the multiplexer makes of a key.
type Meaning struct {
	Kind   MeaningKind
	Place  Place  // where an action was found
	Action Action // of meansAction
	Name   string // of the key, where it was looked up
}

// MeaningKind tells apart who a key is for.
type MeaningKind uint8

const (
	MeansNothing MeaningKind = iota // the agent's: it is typed, and that is all
	MeansTyping                     // the agent's, and something on the screen ends with it
	MeansNobody                     // it is for nobody
	MeansAction                     // a key of the multiplexer's own while an agent has the keyboard
	MeansMode                       // for the mode or the question that has the keyboard
	MeansTwo                        // Esc and a key of the multiplexer's hard behind it
)

// Meaning says what a key means to the multiplexer now. It changes nothing and
// allocates nothing: the fast path of a key and the event loop both ask it.
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
	case !s.Agent:
		out.Kind = MeansNobody
	case s.Ours || s.Pending && !release && !k.IsModifier():
		out.Kind = MeansTyping
	}
	return out
}

// actionAtAgent finds what a key does while an agent has the keyboard, and the place
// that says so, which is empty when none does. After the prefix every key is the
// multiplexer's, also one that does nothing there.
func (m *Keys) actionAtAgent(s KeyState, k keys.Key, name string) (Place, Action) {
	if s.Prefixed && !k.IsModifier() {
		return PlacePrefix, m.At(PlacePrefix, name)
	}
	if a := m.At(PlaceTerminal, name); a != "" {
		return PlaceTerminal, a
	}
	if a := m.At(PlaceStarting, name); s.Starting && a != "" {
		return PlaceStarting, a
	}
	return "", ""
}

// splits reports whether a key is Esc and, hard behind it, the command key or the
// prefix: their bytes are those of the one key with Alt, which reaches nobody then who
// wanted the multiplexer. A terminal that reports keys unambiguously sends others.
func (m *Keys) splits(ev keys.Event) bool {
	if len(ev.Raw) != 2 || ev.Raw[0] != 0x1b || ev.Key.Mods&keys.Alt == 0 || m.At(PlaceTerminal, KeyName(ev.Key)) != "" {
		return false
	}
	k := ev.Key
	k.Mods &^= keys.Alt
	a := m.At(PlaceTerminal, KeyName(k))
	return a == ActCommand || a == ActPrefix
}

// SplitEscape takes such a key apart.
func SplitEscape(ev keys.Event) (esc, key keys.Event) {
	esc = keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: keys.KeyEscape}, Raw: ev.Raw[:1]}
	key = ev
	key.Raw = ev.Raw[1:]
	key.Key.Mods &^= keys.Alt
	return esc, key
}
