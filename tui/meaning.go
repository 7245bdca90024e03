package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// keyState is all of the multiplexer's state that decides what a key means to it.
type keyState struct {
	agent    bool // the focused agent has the keyboard, and there is one
	free     bool // no mode and no question has the keyboard
	prefixed bool // the prefix key was pressed before
	starting bool // the agent's terminal was not reached yet
	ours     bool // the key is held, and its press was the multiplexer's
	pending  bool // something on the screen ends with the next key to an agent
}

// meaning is what the multiplexer makes of a key.
type meaning struct {
	kind   meaningKind
	place  place  // where an action was found
	action action // of meansAction
	name   string // of the key, where it was looked up
}

// meaningKind tells apart who a key is for.
type meaningKind uint8

const (
	meansNothing meaningKind = iota // the agent's: it is typed, and that is all
	meansTyping                     // the agent's, and something on the screen ends with it
	meansNobody                     // it is for nobody
	meansAction                     // a key of the multiplexer's own while an agent has the keyboard
	meansMode                       // for the mode or the question that has the keyboard
	meansTwo                        // Esc and a key of the multiplexer's hard behind it
)

// meaning says what a key means to the multiplexer now. It changes nothing and
// allocates nothing: the fast path of a key and the event loop both ask it.
func (m keymap) meaning(s keyState, ev keys.Event) meaning {
	k := ev.Key
	if m.splits(ev) {
		return meaning{kind: meansTwo}
	}
	release := k.Action == keys.Release
	switch {
	case release && s.ours:
		return meaning{kind: meansNobody}
	case !s.free && (release || k.IsModifier()):
		return meaning{kind: meansNobody}
	case !s.free:
		return meaning{kind: meansMode}
	}
	out := meaning{}
	if !release {
		out.name = keyName(k)
		out.place, out.action = m.actionAtAgent(s, k, out.name)
	}
	switch {
	case out.place != "":
		out.kind = meansAction
	case !s.agent:
		out.kind = meansNobody
	case s.ours || s.pending && !release && !k.IsModifier():
		out.kind = meansTyping
	}
	return out
}

// actionAtAgent finds what a key does while an agent has the keyboard, and the place
// that says so, which is empty when none does. After the prefix every key is the
// multiplexer's, also one that does nothing there.
func (m keymap) actionAtAgent(s keyState, k keys.Key, name string) (place, action) {
	if s.prefixed && !k.IsModifier() {
		return placePrefix, m[placePrefix][name]
	}
	if a := m[placeTerminal][name]; a != "" {
		return placeTerminal, a
	}
	if a := m[placeStarting][name]; s.starting && a != "" {
		return placeStarting, a
	}
	return "", ""
}

// splits reports whether a key is Esc and, hard behind it, the command key or the
// prefix: their bytes are those of the one key with Alt, which reaches nobody then who
// wanted the multiplexer. A terminal that reports keys unambiguously sends others.
func (m keymap) splits(ev keys.Event) bool {
	if len(ev.Raw) != 2 || ev.Raw[0] != 0x1b || ev.Key.Mods&keys.Alt == 0 || m[placeTerminal][keyName(ev.Key)] != "" {
		return false
	}
	k := ev.Key
	k.Mods &^= keys.Alt
	a := m[placeTerminal][keyName(k)]
	return a == actCommand || a == actPrefix
}

// splitEscape takes such a key apart.
func splitEscape(ev keys.Event) (esc, key keys.Event) {
	esc = keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: keys.KeyEscape}, Raw: ev.Raw[:1]}
	key = ev
	key.Raw = ev.Raw[1:]
	key.Key.Mods &^= keys.Alt
	return esc, key
}
