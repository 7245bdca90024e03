package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// onInput handles one event of the person's terminal in the mode that is active now.
func (m *Model) onInput(ev keys.Event) tea.Cmd {
	switch ev.Kind {
	case keys.KeyEvent:
		m.notePress(ev.Key)
		return m.onKey(ev)
	case keys.PasteEvent:
		m.pressed = m.now()
		if m.typesAhead() {
			m.keepTyped(ev)
			break
		}
		m.onPaste(ev)
	case keys.MouseEvent:
		return m.onMouse(ev)
	case keys.FocusEvent:
		m.outerLost = !ev.Focused
		m.o.Focused(ev.Focused)
		m.reportFocus()
	case keys.ReplyEvent:
		m.onReply(ev.Reply)
	case keys.UnknownEvent:
		if t := m.current(); m.mode == modeTerminal && t != nil && m.question == nil {
			m.forward(t, ev)
		}
	}
	return nil
}

// notePress notes a key press, and how long the person had pressed nothing before it. The repetition
// of a key that is held down does not count as a press after a pause.
func (m *Model) notePress(k keys.Key) {
	if k.Action == keys.Release || k.IsModifier() {
		return
	}
	now := m.now()
	m.quiet, m.pressed = now.Sub(m.pressed), now
	if k.Action == keys.Repeat || k.Code == m.pressedKey && m.quiet < repeatDelay {
		m.quiet = 0
	}
	m.pressedKey = k.Code
}

// repeatDelay is longer than keyboards wait before they repeat a key that is held down. Most terminals
// do not report that a key is a repetition, so the same key within this time counts as one.
const repeatDelay = time.Second

// stillHeld reports whether a key has decided a call or answered a question and has been held down
// since. The person does not mean it for the agent that has the keyboard now.
func (m *Model) stillHeld(k keys.Key) bool {
	if m.answered == 0 || k.Action == keys.Release || k.IsModifier() {
		return false
	}
	if m.answered != k.Code || m.quiet >= repeatDelay {
		m.answered = 0
		return false
	}
	return true
}

// keyState returns the state on which the meaning of a key depends now.
func (m *Model) keyState(code rune) input.KeyState {
	t := m.current()
	return input.KeyState{
		Agent:    t != nil && m.placed,
		Free:     m.mode == modeTerminal && m.question == nil,
		Prefixed: m.prefixed,
		Again:    !m.repeatUntil.IsZero() && m.now().Before(m.repeatUntil),
		Starting: t != nil && !t.attached,
		Ours:     m.claimed[code],
		Pending:  !m.touched || m.answered != 0 || m.o.KeepSeen != nil && m.o.Seen.Steps == 0 || m.said().Urgent || t != nil && (t.scrolled || t.crop.Panned || t.dead()),
	}
}

// onKey handles a key, or gives it to the focused agent.
func (m *Model) onKey(ev keys.Event) tea.Cmd {
	code := ev.Key.Code
	if m.stillHeld(ev.Key) {
		return nil
	}
	means := m.keys.Meaning(m.keyState(code), ev)
	switch means.Kind {
	case input.MeansTwo:
		esc, key := input.SplitEscape(ev)
		return join(m.onKey(esc), m.onKey(key))
	case input.MeansAction:
		m.claim(code)
		m.touch()
		return m.onAgentAction(means, ev)
	case input.MeansMode:
		if m.typesAhead() && input.KeyName(ev.Key) != "esc" {
			m.keepTyped(ev)
			break
		}
		m.claim(code)
		m.touch()
		return m.onModeKey(input.KeyName(ev.Key), ev.Key.Text)
	case input.MeansNobody:
		if m.claimed[code] && ev.Key.Action == keys.Repeat {
			break // the key is still held down
		}
		delete(m.claimed, code)
		if m.typesAhead() {
			m.keepTyped(ev)
		}
	case input.MeansNothing, input.MeansTyping:
		delete(m.claimed, code)
		m.typeKey(m.current(), ev)
	}
	return nil
}

// onModeKey handles a key while a mode or a question has the keyboard.
func (m *Model) onModeKey(name, text string) tea.Cmd {
	switch {
	case m.question != nil:
		return m.onQuestionKey(name)
	case m.mode == modeHelp:
		return m.onHelpKey(name, text)
	case m.mode == modePicker:
		return m.onPickerKey(name)
	case m.mode == modeHere:
		return m.onHereKey(name)
	case m.mode == modeCopy:
		return m.onCopyKey(name, text)
	}
	return m.onCommandKey(name, text)
}

// claim notes a key whose press is for the multiplexer, so that no agent gets its release.
func (m *Model) claim(code rune) {
	if len(m.claimed) < 32 { // without reported releases, the map would only grow
		m.claimed[code] = true
	}
}

// touch notes that the person has pressed a key or a button that is for the multiplexer. It hides
// the intro, and the message unless that must stay (view.Messages).
func (m *Model) touch() {
	if !m.touched {
		m.touched, m.dirty = true, true
	}
	if m.messages.Key(m.now()) {
		m.dirty = true
	}
}

// onAgentAction handles a key that is for the multiplexer while an agent has the keyboard.
func (m *Model) onAgentAction(means input.Meaning, ev keys.Event) tea.Cmd {
	if means.Place == input.PlacePrefix {
		return m.onPrefixKey(means, ev)
	}
	switch means.Action {
	case input.ActPrefix:
		m.prefixed, m.messages, m.dirty = true, view.Messages{}, true // a message would hide the keys that can follow
	case input.ActCommand:
		return m.enterCommand()
	case input.ActTab:
		m.showNumber(means.Place, means.Name)
	case input.ActLog:
		return m.runAction(input.ActLog)
	default:
		m.dirty = true
		return m.runAction(means.Action)
	}
	return nil
}

// typeKey types a key into a tab's agent. Any key but a release or a modifier also removes
// the intro and an urgent message, and ends scrolling.
func (m *Model) typeKey(t *tab, ev keys.Event) {
	if ev.Key.Action != keys.Release && !ev.Key.IsModifier() {
		if !m.touched || m.said().Urgent {
			m.touch()
		}
		m.did(tour.Typed)
		if t.scrolled || t.crop.Panned {
			t.follow()
			m.dirty = true
		}
		if t.dead() {
			m.showInfo("the agent has ended")
			return
		}
	}
	m.forward(t, ev)
}

// forward writes an event to a tab's agent, encoded for the modes that the agent set.
func (m *Model) forward(t *tab, ev keys.Event) {
	if !m.mayOperate() {
		if ev.Kind == keys.KeyEvent && ev.Key.Action != keys.Release && !ev.Key.IsModifier() {
			m.showError(errReadOnly("type"))
		}
		return
	}
	t.used(ev, m.now())
	data := keys.Encode(ev, t.pane.Screen.Modes())
	if !t.pane.Put(data) {
		m.showError(fault.New("wait, or /close it", "%s takes no input; the key was not sent", t.title()))
	}
}

// showNumber shows the tab whose number is the position of a key among the keys of ActTab.
func (m *Model) showNumber(p input.Place, key string) {
	n := m.keys.NumberOf(p, input.ActTab, key)
	if n > len(m.tabs) {
		m.showError(m.noSuchTab(n))
		return
	}
	m.show(n - 1)
}

// onPrefixKey handles the key after the prefix. Most actions have the name of the slash
// command that they run.
func (m *Model) onPrefixKey(means input.Meaning, ev keys.Event) tea.Cmd {
	m.prefixed, m.dirty = false, true
	switch name, a := means.Name, means.Action; a {
	case "":
		if name == "esc" {
			break
		}
		m.showError(fault.New(input.DisplayKey(m.keys.CommandKey)+" then ? lists the keys", "%s %s does nothing", input.DisplayKey(m.keys.Prefix), input.DisplayKey(name)))
	case input.ActPrefix:
		if t := m.current(); t != nil && !t.dead() {
			m.forward(t, ev)
		}
	case input.ActTab:
		m.showNumber(input.PlacePrefix, name)
	case input.ActCommand:
		return m.enterCommand()
	case input.ActPaste:
		m.pasteCopied()
	default:
		if a.Repeats() {
			m.repeatUntil = m.now().Add(repeatTime)
		}
		if command, ok := input.Begins(a); ok {
			return m.beginCommand(command)
		}
		return m.runAction(a)
	}
	return nil
}

// beginCommand opens the command line with a command whose arguments the person types. A line that the
// person had begun goes into the history. Esc removes the command again.
func (m *Model) beginCommand(command string) tea.Cmd {
	list := m.enterCommand()
	m.line.Take()
	m.prefilled = "/" + command + " "
	m.line.Insert(m.prefilled, false)
	if t := m.current(); command == "rename" && t != nil && t.session.Name != "" {
		m.line.Complete(t.session.Name) // for the person to change
	}
	return list
}

// repeatTime is how long a key that resizes a pane can be repeated without the prefix.
const repeatTime = 500 * time.Millisecond

// runAction runs the slash command that has the name of an action.
func (m *Model) runAction(a input.Action) tea.Cmd {
	word, args := input.ParseCommand(string(a))
	c, ok := lookUpCommand(word)
	if !ok {
		return nil
	}
	cmd, err := m.runCommand(c, args)
	if err != nil {
		m.showError(err)
	}
	return cmd
}

// typeAhead is what the person has typed before the tab for it was open.
type typeAhead struct {
	events []keys.Event
	size   int // bytes
}

// maxTypeAhead bounds the bytes that are kept.
const maxTypeAhead = 1 << 20

// awaitsTab reports whether the tab that gets the keyboard first is not known yet.
func (m *Model) awaitsTab() bool { return !m.placed || len(m.tabs) == 0 && m.opening > 0 }

// typesAhead reports whether what the person types now is for a tab that is not open yet.
func (m *Model) typesAhead() bool {
	return m.awaitsTab() && m.question == nil && (m.mode == modeTerminal || m.mode == modePicker && m.picker.looking())
}

// keepTyped keeps a key or a piece of a paste until the tab is open.
func (m *Model) keepTyped(ev keys.Event) {
	if ev.Key.Action == keys.Release || !m.mayOperate() {
		return
	}
	size := max(1, len(ev.Raw)+len(ev.Paste.Data))
	if m.typeAhead.size+size > maxTypeAhead {
		m.showError(fault.New("type the rest again when the tab is open", "too much was typed before the tab was open; the rest was dropped"))
		return
	}
	m.typeAhead.events, m.typeAhead.size = append(m.typeAhead.events, ev), m.typeAhead.size+size
}

// replayTypeAhead types what was kept, once the tab is open and has the keyboard. It drops what was
// kept when no tab opens, or when a question has appeared after the person typed.
func (m *Model) replayTypeAhead() (cmd tea.Cmd) {
	asked := m.question != nil || m.mode == modeHere || m.mode == modePicker && !m.picker.looking()
	if len(m.typeAhead.events) == 0 || !asked && (m.awaitsTab() || m.mode != modeTerminal) {
		return nil
	}
	events := m.typeAhead.events
	m.typeAhead = typeAhead{}
	if asked || m.current() == nil {
		return nil
	}
	for _, ev := range events {
		cmd = join(cmd, m.onInput(ev))
	}
	return cmd
}
