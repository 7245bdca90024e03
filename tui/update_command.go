package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
)

// enterCommand gives the keyboard to the command line. Only input of the person may lead
// here, never an event of an agent or the broker. The agents are listed again, because config.json may
// have been changed.
func (m *Model) enterCommand() tea.Cmd {
	m.mode, m.dirty, m.begunStep, m.menuState = modeCommand, true, m.o.Seen.Steps, menuState{}
	if t := m.current(); t != nil {
		m.approvals.Prefer(t.session.ID, m.now())
	}
	m.beginLine()
	return m.fetchAgents()
}

// beginLine notes when the person begins a command, and which call the panel shows then.
func (m *Model) beginLine() {
	m.begun = m.now()
	m.approvals.Begin()
}

// leaveCommand gives the keyboard back to the agent and keeps what is typed.
func (m *Model) leaveCommand() {
	m.mode, m.question, m.dirty = modeTerminal, nil, true
	m.approvals.Unfocus()
	m.line.StopSearch()
	m.prefilled = ""
}

// beganWith reports whether the line still begins with this command, and a key after the prefix has
// put it there.
func (m *Model) beganWith(command string) bool {
	return m.prefilled == command && strings.HasPrefix(m.line.Text(), command)
}

// onKeyBesideLine handles a key that does not edit the line: it is for the focused call, the search,
// the panel, or an action of the empty line.
func (m *Model) onKeyBesideLine(name, text string) (cmd tea.Cmd, taken bool) {
	if cmd, taken := m.onFocusedKey(name); taken {
		return cmd, true
	}
	if m.line.Searching() {
		if m.line.SearchKey(m.keys, name, text) == input.SearchRuns {
			return m.enter(), true
		}
		return nil, true
	}
	if m.line.Empty() {
		if m.panelTakes(name) {
			m.onPanel(m.keys.At(input.PlacePanel, name))
			return nil, true
		}
		if a := m.keys.At(input.PlaceEmpty, name); a != "" {
			return m.onEmptyLine(a), true
		}
	}
	switch a := m.keys.At(input.PlacePanel, name); a {
	case input.ActPanelPage, input.ActPanelPageUp, input.ActPanelPrev, input.ActPanelTab:
		if m.approvals.Current() != nil {
			m.onPanel(a)
			return nil, true
		}
	}
	return nil, false
}

// onCommandKey handles a key on the command line.
func (m *Model) onCommandKey(name, text string) tea.Cmd {
	m.dirty = true
	if cmd, taken := m.onKeyBesideLine(name, text); taken {
		return cmd
	}
	all, chosen := m.menu()
	if a := m.keys.At(input.PlaceMenu, name); a != "" && len(all) > 0 {
		m.choose(map[input.Action]int{input.ActMenuDown: 1, input.ActMenuUp: -1}[a])
		return nil
	}
	a := m.keys.At(input.PlaceCommand, name)
	if a != input.ActComplete {
		m.menuState.word = ""
	}
	switch a {
	case "":
		m.typeText(text)
	case input.ActLiteral:
		return m.sendLiteral()
	case input.ActLeave:
		m.approvals.PutAside(m.now())
		if m.prefilled != "" && m.beganWith(m.prefilled) {
			m.line.Take()
		}
		m.leaveCommand()
	case input.ActEnter:
		if chosen < 0 {
			return m.enter()
		}
		p, _, _ := m.offered()
		m.take(p, all[chosen])
		if m.beganWith("/tab ") { // a list to choose from, as in tmux
			return m.enter()
		}
	case input.ActTab:
		m.showNumber(input.PlaceCommand, name)
	case input.ActComplete:
		m.complete()
	case input.ActSearch:
		if m.line.Empty() {
			m.beginLine()
		}
		m.line.BeginSearch()
	default:
		m.line.Edit(a)
	}
	return nil
}

// panelTakes reports whether a key on an empty line is for the panel.
func (m *Model) panelTakes(name string) bool {
	return m.approvals.Current() != nil && m.keys.At(input.PlacePanel, name) != ""
}

// typeText inserts the text of a key into the line.
func (m *Model) typeText(text string) {
	if !input.Printable(text) {
		return
	}
	if m.line.Empty() {
		m.beginLine()
	}
	if !m.line.Insert(text, false) {
		m.showError(errors.New("the line is full"))
	}
}

// onEmptyLine carries out the action of a key on an empty command line.
func (m *Model) onEmptyLine(a input.Action) tea.Cmd {
	switch a {
	case input.ActLeave:
		m.leaveCommand()
	case input.ActPrevTab:
		m.step(-1)
	case input.ActNextTab:
		m.step(1)
	case input.ActCopyMode:
		return m.startCopy()
	case input.ActKeys:
		m.openHelp()
	case input.ActTakePrefix:
		return m.takePrefix()
	case input.ActEndTour:
		m.endTour()
	case input.ActPanLeft, input.ActPanRight, input.ActPanUp, input.ActPanDown:
		if err := m.pan(strings.TrimPrefix(string(a), "pan ")); err != nil {
			m.showError(err)
		}
	}
	return nil
}

// onPanel moves through the panel.
func (m *Model) onPanel(a input.Action) {
	p := &m.approvals
	panel, _ := m.panelRect()
	page := max(1, m.panelRows(panel))
	switch a {
	case input.ActPanelDown:
		p.Scroll++
	case input.ActPanelUp:
		p.Scroll--
	case input.ActPanelPage:
		p.PageDown(page)
	case input.ActPanelPageUp:
		p.Scroll -= page
	case input.ActPanelTop:
		p.Scroll = 0
	case input.ActPanelEnd:
		p.Scroll = len(p.Current().Body.Rows)
	case input.ActPanelNext, input.ActPanelPrev:
		if a == input.ActPanelPrev {
			p.Step(-1, m.now())
		} else if p.Focused() {
			p.Step(1, m.now())
		}
		m.beginLine()
		m.ensureBody(p.Current())
		p.Focus()
	case input.ActPanelTab:
		m.show(m.indexOf(p.Current().Call.Session))
	}
}

// sendLiteral closes the command line and sends the command key itself.
func (m *Model) sendLiteral() tea.Cmd {
	m.leaveCommand()
	if t := m.current(); t != nil && !t.dead() {
		k, _ := keys.Parse(m.keys.CommandKey)
		m.forward(t, keys.Event{Kind: keys.KeyEvent, Key: k})
	}
	return nil
}

// enter runs the command or sends the text, and returns to the agent. When that fails, the
// text stays on the line.
func (m *Model) enter() tea.Cmd {
	if m.line.Empty() {
		m.leaveCommand()
		return nil
	}
	if m.line.IsCommand() {
		return m.runLine(m.line.Text())
	}
	return m.sendText(m.line.Pieces)
}

// runLine runs a slash command.
func (m *Model) runLine(text string) tea.Cmd {
	name, args := input.ParseCommand(text)
	c, ok := lookUpCommand(name)
	if !ok {
		m.showError(unknownCommand(name))
		return nil
	}
	if m.o.Safe && !slices.Contains(inSafeView(), c.name) {
		m.showError(errSafe())
		return nil
	}
	taken := m.line.Pieces
	m.mode, m.executed = modeTerminal, taken
	cmd, err := m.runCommand(c, args)
	m.executed = nil
	if errors.Is(err, errStay) {
		m.mode = modeCommand
		return cmd
	}
	if err != nil {
		m.mode = modeCommand
		if near := menu.DidYouMean(c.args, args); near != "" && !strings.Contains(err.Error(), near) {
			err = fmt.Errorf("%w%s", err, near)
		}
		m.showError(err)
		return nil
	}
	m.line.Pieces = taken
	m.line.Take()
	return cmd
}

// sendText sends the line to the focused agent as trusted input. "//" at the start of the
// line means one slash, and one leading space is not sent.
func (m *Model) sendText(pieces []input.Piece) tea.Cmd {
	t := m.current()
	switch {
	case !m.mayOperate():
		m.showError(errReadOnly("send"))
		return nil
	case m.o.Safe:
		m.showError(errSafe())
		return nil
	case t == nil:
		m.showError(errNoTab("to send this to"))
		return nil
	case t.dead():
		m.showError(fault.New("/restart starts it again, /resume continues it", "%s has ended", t.title()))
		return nil
	}
	kept := pieces
	if first := pieces[0].Text; first == " " && len(pieces) > 1 || strings.HasPrefix(input.TextOf(pieces), "//") {
		pieces = pieces[1:]
	}
	in := broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(pieces), Spans: input.SpansOf(pieces)}
	m.line.Take()
	m.leaveCommand()
	t.follow()
	return m.submit(in, kept)
}

// onSubmitted types accepted text into the agent it was meant for.
func (m *Model) onSubmitted(msg submittedMsg) {
	t := m.tabOf(msg.id)
	err := msg.err
	if err == nil && t == nil {
		err = errors.New("the tab was closed meanwhile")
	}
	if err == nil {
		t.usedAt = m.now()
		t.pane.Use()
		if !t.pane.Fill(msg.slot, msg.receipt.Typing, msg.receipt.Pause) {
			err = fmt.Errorf("%s takes no input", t.title())
		}
	}
	if err != nil {
		if t != nil {
			t.pane.Release(msg.slot)
		}
		if msg.err == nil {
			m.later = join(m.later, m.forget(msg.id)) // the agent never got it
		}
		where := m.line.PutBack(msg.pieces)
		m.showError(fmt.Errorf("send: %w; the text is kept %s", err, where))
	}
}

// onQuestionKey answers a question.
func (m *Model) onQuestionKey(name string) tea.Cmd {
	q := m.question
	switch m.keys.At(input.PlaceQuestion, name) {
	case input.ActYes:
		m.question, m.dirty, m.answered = nil, true, m.pressedKey
		return q.yes(m)
	case input.ActNo:
		m.question, m.dirty, m.answered = nil, true, m.pressedKey
	}
	return nil
}
