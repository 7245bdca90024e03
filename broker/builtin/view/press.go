package view

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// press handles a key.
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

// interrupt interrupts the running turn. It returns false if there is none, or if it is being
// interrupted already.
func (m *model) interrupt() bool {
	if m.stop == nil || m.stopping {
		return false
	}
	m.stopping = true
	m.stop(builtin.ErrInterrupted)
	return true
}

// clear empties the input. It returns false if the input was empty.
func (m *model) clear() bool {
	if m.input.empty() {
		return false
	}
	m.input.clear()
	return true
}

// takeBack moves the last text of the queue back into the input.
func (m *model) takeBack() {
	if n := len(m.queue); n > 0 {
		m.input.paste(m.queue[n-1])
		m.queue = m.queue[:n-1]
	}
}

// send runs a command, or adds the text to the queue. A command that does not exist stays in the
// input.
func (m *model) send() {
	what := m.input.text()
	if strings.TrimSpace(what) == "" {
		return
	}
	if c := commandLine.FindStringSubmatch(what); c != nil {
		if m.runCommand(c[1], c[2]) {
			m.input.sent()
		}
		return
	}
	m.input.sent()
	m.enqueue(what)
}
