package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
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

// keyState is what decides the meaning of a key now.
func (m *Model) keyState(code rune) keyState {
	t := m.current()
	return keyState{
		agent:    t != nil,
		free:     m.mode == modeTerminal && m.question == nil,
		prefixed: m.prefixed,
		starting: t != nil && !t.attached,
		ours:     m.ours[code],
		pending:  !m.touched || m.flash.urgent || t != nil && (t.scrolled || t.dead()),
	}
}

// onKey gives a key to whom it belongs.
func (m *Model) onKey(ev keys.Event) tea.Cmd {
	code := ev.Key.Code
	means := m.keys.meaning(m.keyState(code), ev)
	switch means.kind {
	case meansTwo:
		esc, key := splitEscape(ev)
		return join(m.onKey(esc), m.onKey(key))
	case meansAction:
		m.claim(code)
		m.touch()
		return m.onAgentAction(means, ev)
	case meansMode:
		m.claim(code)
		m.touch()
		return m.onModeKey(keyName(ev.Key), ev.Key.Text)
	case meansNobody:
		delete(m.ours, code)
	case meansNothing, meansTyping:
		delete(m.ours, code)
		m.typeKey(m.current(), ev)
	}
	return nil
}

// onModeKey is a key while a mode or a question has the keyboard.
func (m *Model) onModeKey(name, text string) tea.Cmd {
	switch {
	case m.question != nil:
		return m.onQuestionKey(name)
	case m.mode == modeHelp:
		return m.onHelpKey(name)
	case m.mode == modePicker:
		return m.onPickerKey(name)
	case m.mode == modeCopy:
		return m.onCopyKey(name, text)
	}
	return m.onCommandKey(name, text)
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

// onAgentAction carries out a key of the multiplexer's own while an agent has the
// keyboard.
func (m *Model) onAgentAction(means meaning, ev keys.Event) tea.Cmd {
	if means.place == placePrefix {
		return m.onPrefixKey(means, ev)
	}
	switch means.action {
	case actPrefix:
		m.prefixed, m.dirty = true, true
	case actCommand:
		m.enterCommand()
	case actTab:
		m.showNumber(means.place, means.name)
	case actLog:
		return m.runAction(actLog)
	default:
		m.dirty = true
		return m.runAction(means.action)
	}
	return nil
}

// typeKey types a key into a tab's agent. One that is more than a release or a
// modifier ends what waits for the person to go on.
func (m *Model) typeKey(t *tab, ev keys.Event) {
	if ev.Key.Action != keys.Release && !ev.Key.IsModifier() {
		m.touch()
		if t.scrolled {
			t.scrolled, m.dirty = false, true
		}
		if t.dead() {
			m.showInfo("the agent has ended")
			return
		}
	}
	m.forward(t, ev)
}

// forward writes an event to a tab's agent, in the form its modes ask for.
func (m *Model) forward(t *tab, ev keys.Event) {
	t.used(ev, m.now())
	data := keys.Encode(ev, t.pane.screen.Modes())
	if !t.pane.queue.put(data) {
		m.showError(&hinted{fmt.Errorf("%s takes no input; the key was not sent", view.Sanitize(t.title())), "wait, or /close it"})
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
