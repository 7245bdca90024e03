package tui

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// enterCommand gives the keyboard to the command line. Only the person does
// that; no event of an agent or the broker comes here.
func (m *Model) enterCommand() {
	m.mode, m.dirty = modeCommand, true
	if t := m.current(); t != nil {
		m.approvals.prefer(t.session.ID, m.now())
	}
	m.beginLine()
}

// beginLine notes when a command is begun, and which call the panel shows then.
func (m *Model) beginLine() {
	m.begun = m.now()
	m.approvals.agreed = ""
	if it := m.approvals.current(); it != nil {
		m.approvals.agreed = it.call.ID
	}
}

// leaveCommand gives the keyboard back to the agent and keeps what is typed.
func (m *Model) leaveCommand() {
	m.mode, m.question, m.dirty = modeTerminal, nil, true
}

// onCommandKey is a key on the command line.
func (m *Model) onCommandKey(name, text string) tea.Cmd {
	m.dirty = true
	if m.flash.candidates {
		m.flash = flash{}
	}
	if m.line.empty() {
		if a := m.keys[placeEmpty][name]; a != "" && !m.panelTakes(name) {
			return m.onEmptyLine(a)
		}
		if m.panelTakes(name) {
			m.onPanel(m.keys[placePanel][name])
			return nil
		}
	}
	if a := m.keys[placePanel][name]; m.approvals.current() != nil && (a == actPanelPage || a == actPanelPageUp || a == actPanelPrev || a == actPanelTab) {
		m.onPanel(a)
		return nil
	}
	switch a := m.keys[placeCommand][name]; a {
	case "":
		m.typeText(text)
	case actLiteral:
		return m.sendLiteral()
	case actLeave:
		m.leaveCommand()
	case actEnter:
		return m.enter()
	case actTab:
		m.showNumber(placeCommand, name)
	case actComplete:
		return m.complete()
	default:
		m.line.edit(a)
	}
	return nil
}

// panelTakes reports whether a key on an empty line belongs to the panel.
func (m *Model) panelTakes(name string) bool {
	return m.approvals.current() != nil && m.keys[placePanel][name] != ""
}

// typeText inserts what a key types.
func (m *Model) typeText(text string) {
	if text == "" || strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return
	}
	if m.line.empty() {
		m.beginLine()
	}
	if !m.line.insert(text, false) {
		m.showError(errors.New("the line is full"))
	}
}

// onEmptyLine carries out the keys of an empty command line.
func (m *Model) onEmptyLine(a action) tea.Cmd {
	switch a {
	case actPrevTab:
		m.step(-1)
	case actNextTab:
		m.step(1)
	case actCopyMode:
		return m.startCopy()
	case actKeys:
		m.openHelp()
	}
	return nil
}

// onPanel moves through the panel.
func (m *Model) onPanel(a action) {
	p := &m.approvals
	panel, _ := m.panelRect()
	page := max(1, panel.H-1)
	switch a {
	case actPanelDown:
		p.scroll++
	case actPanelUp:
		p.scroll--
	case actPanelPage:
		p.pageDown(page)
	case actPanelPageUp:
		p.scroll -= page
	case actPanelTop:
		p.scroll = 0
	case actPanelEnd:
		p.scroll = len(p.current().body.rows)
	case actPanelNext:
		p.step(1, m.now())
		m.beginLine()
	case actPanelPrev:
		p.step(-1, m.now())
		m.beginLine()
	case actPanelTab:
		m.show(m.indexOf(p.current().call.Session))
	}
}

// sendLiteral closes the command line and sends the command key itself.
func (m *Model) sendLiteral() tea.Cmd {
	m.leaveCommand()
	if t := m.current(); t != nil && !t.dead() {
		k, _ := keys.Parse(m.o.CommandKey)
		m.forward(t, keys.Event{Kind: keys.KeyEvent, Key: k})
	}
	return nil
}

// enter runs the command or sends the text, and returns to the agent. What
// cannot be done stays on the line.
func (m *Model) enter() tea.Cmd {
	text := m.line.text()
	if m.line.empty() {
		m.leaveCommand()
		return nil
	}
	if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
		return m.runLine(text)
	}
	return m.sendText(m.line.pieces)
}

// runLine runs a slash command.
func (m *Model) runLine(text string) tea.Cmd {
	name, args := parseCommand(text)
	c, ok := lookUpCommand(name)
	if !ok {
		m.showError(unknownCommand(name))
		return nil
	}
	taken := m.line.pieces
	m.mode, m.executed, m.flash = modeTerminal, taken, flash{} // what was said before is about something else
	cmd, err := c.run(m, args)
	m.executed = nil
	if errors.Is(err, errStay) {
		m.mode = modeCommand
		return cmd
	}
	if err != nil {
		m.mode = modeCommand
		m.showError(err)
		return nil
	}
	m.line.pieces = taken
	m.line.take()
	return cmd
}

// sendText sends the line to the focused agent as trusted input. "//" at its
// start stands for one slash, and one leading space is not sent.
func (m *Model) sendText(pieces []piece) tea.Cmd {
	t := m.current()
	switch {
	case t == nil:
		m.showError(&hinted{errors.New("there is no tab to send this to"), "/new opens one"})
		return nil
	case t.dead():
		m.showError(&hinted{fmt.Errorf("%s has ended", view.Sanitize(t.title())), "/restart opens it anew, /resume goes on where it ended"})
		return nil
	}
	kept := pieces
	if first := pieces[0].text; first == " " && len(pieces) > 1 || strings.HasPrefix(textOf(pieces), "//") {
		pieces = pieces[1:]
	}
	in := broker.TrustedInput{Session: t.session.ID, Text: textOf(pieces), Spans: spansOf(pieces)}
	m.line.take()
	m.leaveCommand()
	t.scrolled, m.flash = false, flash{}
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
		if !t.pane.queue.fill(msg.slot, msg.receipt.Typing, msg.receipt.Pause) {
			err = fmt.Errorf("%s takes no input", view.Sanitize(t.title()))
		}
	}
	if err != nil {
		if t != nil {
			t.pane.queue.release(msg.slot)
		}
		if msg.err == nil {
			m.later = join(m.later, m.forget(msg.id, false)) // the agent never got it
		}
		where := m.line.putBack(msg.pieces)
		m.showError(fmt.Errorf("send: %w; the text is kept %s", err, where))
	}
}

// onQuestionKey answers a question.
func (m *Model) onQuestionKey(name string) tea.Cmd {
	q := m.question
	switch m.keys[placeQuestion][name] {
	case actYes:
		m.question, m.dirty = nil, true
		return q.yes(m)
	case actNo:
		m.question, m.dirty = nil, true
	}
	return nil
}
