package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// onInput gives one event of the person's terminal to whom it belongs in the
// mode that holds now.
func (m *Model) onInput(ev keys.Event) tea.Cmd {
	switch ev.Kind {
	case keys.KeyEvent:
		return m.onKey(ev)
	case keys.PasteEvent:
		m.onPaste(ev)
	case keys.MouseEvent:
		return m.onMouse(ev)
	case keys.FocusEvent:
		m.outerLost = !ev.Focused
		m.tellFocus()
	case keys.ReplyEvent:
		m.onReply(ev.Reply)
	case keys.UnknownEvent:
		if t := m.current(); m.mode == modeTerminal && t != nil && m.question == nil {
			m.forward(t, ev)
		}
	}
	return nil
}

// onKey dispatches a key by mode. Releases only ever concern agents.
func (m *Model) onKey(ev keys.Event) tea.Cmd {
	if esc, key, two := m.splitEscape(ev); two {
		return join(m.onKey(esc), m.onKey(key))
	}
	code := ev.Key.Code
	if ev.Key.Action == keys.Release && m.ours[code] {
		delete(m.ours, code)
		return nil
	}
	if m.mode == modeTerminal && m.question == nil {
		return m.onTerminalKey(ev)
	}
	if ev.Key.Action == keys.Release || ev.Key.IsModifier() {
		return nil
	}
	m.claim(code)
	m.touch()
	name := keyName(ev.Key)
	switch {
	case m.question != nil:
		return m.onQuestionKey(name)
	case m.mode == modeHelp:
		return m.onHelpKey(name)
	case m.mode == modePicker:
		return m.onPickerKey(name)
	case m.mode == modeCopy:
		return m.onCopyKey(name, ev.Key.Text)
	}
	return m.onCommandKey(name, ev.Key.Text)
}

// splitEscape takes apart Esc and, hard behind it, the command key or the prefix:
// their bytes are those of the one key with Alt, which reaches nobody then who
// wanted the multiplexer. A terminal that reports keys unambiguously sends
// others.
func (m *Model) splitEscape(ev keys.Event) (esc, key keys.Event, two bool) {
	if len(ev.Raw) != 2 || ev.Raw[0] != 0x1b || ev.Key.Mods&keys.Alt == 0 || m.keys[placeTerminal][keyName(ev.Key)] != "" {
		return ev, ev, false
	}
	esc = keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: keys.KeyEscape}, Raw: ev.Raw[:1]}
	key = ev
	key.Raw = ev.Raw[1:]
	key.Key.Mods &^= keys.Alt
	a := m.keys[placeTerminal][keyName(key.Key)]
	return esc, key, a == actCommand || a == actPrefix
}

// claim notes a key whose press is the multiplexer's own, so that no agent is
// told of its release.
func (m *Model) claim(code rune) {
	if len(m.ours) < 32 { // terminals that report no releases never empty it
		m.ours[code] = true
	}
}

// plainSymbols are the keys of a US keyboard that make, with Shift, the
// shiftedSymbols in the same order.
const (
	plainSymbols   = "`1234567890-=[]\\;',./"
	shiftedSymbols = "~!@#$%^&*()_+{}|:\"<>?"
)

// keyName is the name a key has in the registry. The keypad's Enter is Enter. The
// Shift that makes a symbol is part of it: for Ctrl-_ some terminals send one
// byte, xterm says Ctrl and Shift with "_", and others the same with the key, "-",
// most of them beside what it makes on this person's keyboard.
func keyName(k keys.Key) string {
	if k.Mods&(keys.Ctrl|keys.Alt) != 0 && k.Mods&keys.Shift != 0 {
		symbol := k.Code
		if i := strings.IndexRune(plainSymbols, k.Code); k.Shifted != 0 {
			symbol = k.Shifted
		} else if i >= 0 {
			symbol = rune(shiftedSymbols[i])
		}
		if symbol != k.Code && !unicode.IsLetter(symbol) || strings.ContainsRune(shiftedSymbols, symbol) {
			k.Code, k.Mods = symbol, k.Mods&^keys.Shift
		}
	}
	return strings.Replace(k.String(), "kpenter", "enter", 1)
}

// touch notes that the person has acted: the introduction and an urgent
// message have done their work.
func (m *Model) touch() {
	if !m.touched {
		m.touched, m.dirty = true, true
	}
	if m.flash.urgent {
		m.flash, m.dirty = flash{}, true
	}
}

// onTerminalKey is a key while an agent has the keyboard: everything but the
// command key and Alt with a digit is the agent's.
func (m *Model) onTerminalKey(ev keys.Event) tea.Cmd {
	if ev.Key.Action != keys.Release {
		if m.prefixed && !ev.Key.IsModifier() {
			m.touch()
			return m.onPrefixKey(ev)
		}
		name := keyName(ev.Key)
		switch a := m.keys[placeTerminal][name]; a {
		case actPrefix:
			m.claim(ev.Key.Code)
			m.touch()
			m.prefixed, m.dirty = true, true
			return nil
		case actCommand:
			m.claim(ev.Key.Code)
			m.touch()
			m.enterCommand()
			return nil
		case actTab:
			m.claim(ev.Key.Code)
			m.touch()
			m.showNumber(placeTerminal, name)
			return nil
		default:
			if a != "" {
				m.claim(ev.Key.Code)
				m.touch()
				m.dirty = true
				return m.runAction(a)
			}
		}
		if t := m.current(); t != nil && !t.attached && m.keys[placeStarting][name] == actLog {
			m.claim(ev.Key.Code)
			m.touch()
			return m.runAction(actLog)
		}
		delete(m.ours, ev.Key.Code)
	}
	t := m.current()
	if t == nil {
		return nil
	}
	if ev.Key.Action != keys.Release && !ev.Key.IsModifier() {
		m.touch()
		if t.scrolled {
			t.scrolled, m.dirty = false, true
		}
		if t.dead() {
			m.showInfo("the agent has ended")
			return nil
		}
	}
	m.forward(t, ev)
	return nil
}

// forward writes an event to a tab's agent, in the form its modes ask for.
func (m *Model) forward(t *tab, ev keys.Event) {
	t.used(ev, m.now())
	data := keys.Encode(ev, t.pane.screen.Modes())
	if !t.pane.queue.put(data) {
		m.showError(&hinted{fmt.Errorf("%s takes no input; the key was not sent", sanitize(t.title())), "wait, or /close it"})
	}
}

// showNumber shows the tab with the number of a key among those of its action.
func (m *Model) showNumber(p place, key string) {
	n := 0
	for _, b := range m.table {
		if b.place == p && b.action == actTab {
			n = 1 + slices.Index(b.Keys(), key)
		}
	}
	for i, t := range m.tabs {
		if t.session.Tab == n {
			m.show(i)
			return
		}
	}
	m.showError(m.noSuchTab(n))
}

// tellFocus tells agents that asked for it whether they have the focus.
func (m *Model) tellFocus() {
	t := m.current()
	if t != nil && !m.outerLost {
		if m.focusedID == t.session.ID {
			return
		}
		m.sendFocus(false)
		m.focusedID = t.session.ID
		m.sendFocus(true)
		return
	}
	m.sendFocus(false)
	m.focusedID = ""
}

func (m *Model) sendFocus(gained bool) {
	t := m.tabOf(m.focusedID)
	if t == nil || t.dead() {
		return
	}
	ev := keys.Event{Kind: keys.FocusEvent, Focused: gained}
	t.pane.queue.put(keys.Encode(ev, t.pane.screen.Modes()))
}
