package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// aboutBroker is Message.About of the message that the broker cannot be reached.
const aboutBroker = "broker"

// Update implements tea.Model: it handles one message, and publishes a new scene when
// anything that is drawn has changed.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.mode
	cmd := join(m.dispatch(msg), m.replayTypeAhead())
	if was == modeCommand && m.mode != modeCommand {
		m.leftLine()
	}
	if m.dirty {
		cmd = join(join(cmd, m.tick()), m.lookFor())
		m.refresh()
	}
	cmd = join(cmd, m.retitle())
	cmd, m.later = join(cmd, m.later), nil
	return m, cmd
}

func (m *Model) dispatch(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case inputMsg:
		defer m.underway.done()
		m.answering = true
		defer func() { m.answering = false }()
		return m.onInput(msg.event)
	case sizeMsg:
		return m.onSize(msg)
	case brokerMsg:
		return m.onBroker(msg.event)
	case listedMsg:
		return m.onListed(msg)
	case brokerLostMsg:
		m.say(view.Message{Text: explain(msg.err), Severity: view.Failure, About: aboutBroker})
	case answerMsg:
		msg()
	case openedMsg:
		return m.onOpened(msg)
	case attachedMsg:
		m.onAttached(msg)
	case changedMsg:
		m.dirty = true
	case endedMsg:
		m.onEnded(msg)
	case storedMsg:
		return m.onStored(msg)
	case decidedMsg:
		return m.onDecided(msg)
	case submittedMsg:
		m.onSubmitted(msg)
	case paneMsg:
		return m.onPane(msg)
	case copyMsg:
		return m.onCopy()
	case paintedMsg:
		m.approvals.Painted(msg.seq, msg.at)
		m.here.Painted(msg.seq, msg.at)
	case continuedMsg:
		m.approvals.Hide()
		m.here.Hide()
		m.dirty = true
	case stalledMsg:
		m.onStalled(msg)
	case readyMsg:
		return m.onReady(msg)
	case finishedMsg:
		m.finished(msg)
	case retitleMsg:
		m.retitling = false
	case foundMsg:
		m.onFound(msg)
	case tickMsg:
		m.ticking, m.dirty = false, true
	}
	return nil
}

// join makes one command of two; either may be nil.
func join(a, b tea.Cmd) tea.Cmd {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return tea.Batch(a, b)
}
