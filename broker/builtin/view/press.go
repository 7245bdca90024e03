package view

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// press takes a key.
func (m *model) press(k tea.KeyPressMsg) {
	if m.quitting {
		return
	}
	m.hint = ""
	switch k.String() {
	case "enter":
		m.send()
	case "esc":
		if !m.interrupt() && !m.clear() {
			m.takeBack()
		}
	case "ctrl+c":
		if !m.interrupt() && !m.clear() {
			m.hint = "Ctrl-D ends"
		}
	case "ctrl+d":
		if m.input.empty() {
			m.leave(builtin.ErrInterrupted)
			return
		}
		m.input.press(k)
	default:
		m.input.press(k)
	}
}

// interrupt ends the turn that runs. It reports false when there is none, or was told so.
func (m *model) interrupt() bool {
	if m.stop == nil || m.stopping {
		return false
	}
	m.stopping = true
	m.stop(builtin.ErrInterrupted)
	return true
}

// clear empties the input. It reports false when it was.
func (m *model) clear() bool {
	if m.input.empty() {
		return false
	}
	m.input.clear()
	return true
}

// takeBack puts what waits last into the input again.
func (m *model) takeBack() {
	if n := len(m.queue); n > 0 {
		m.input.paste(m.queue[n-1])
		m.queue = m.queue[:n-1]
	}
}

// send obeys a command, or asks what was written. A command that does not exist stays.
func (m *model) send() {
	what := m.input.text()
	if strings.TrimSpace(what) == "" {
		return
	}
	if c := commandLine.FindStringSubmatch(what); c != nil {
		if m.obey(c[1], c[2]) {
			m.input.sent()
		}
		return
	}
	m.input.sent()
	m.enqueue(what)
}
