package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// early is what the person has typed before there was a tab for it.
type early struct {
	events []keys.Event
	size   int // bytes
}

// mostEarly bounds the bytes that are kept.
const mostEarly = 1 << 20

// tabComes reports whether the tab that gets the keyboard first is not known yet.
func (m *Model) tabComes() bool { return !m.placed || len(m.tabs) == 0 && m.opening > 0 }

// tooEarly reports whether what is typed now is for the tab that comes.
func (m *Model) tooEarly() bool {
	return m.tabComes() && m.question == nil && (m.mode == modeTerminal || m.mode == modePicker && m.picker.looking())
}

// keep keeps a key or a piece of a paste for the tab that comes.
func (m *Model) keep(ev keys.Event) {
	if ev.Key.Action == keys.Release || !m.may() {
		return
	}
	size := max(1, len(ev.Raw)+len(ev.Paste.Data))
	if m.early.size+size > mostEarly {
		m.showError(fault.New("type it again when the tab is there", "too much was typed before there was a tab; the end was not kept"))
		return
	}
	m.early.events, m.early.size = append(m.early.events, ev), m.early.size+size
}

// typeEarly types what was kept, once the tab is there and has the keyboard. It is dropped
// when no tab comes, or when something asks the person that was not there when they typed.
func (m *Model) typeEarly() (cmd tea.Cmd) {
	asked := m.question != nil || m.mode == modePicker && !m.picker.looking()
	if len(m.early.events) == 0 || !asked && (m.tabComes() || m.mode != modeTerminal) {
		return nil
	}
	events := m.early.events
	m.early = early{}
	if asked || m.current() == nil {
		return nil
	}
	for _, ev := range events {
		cmd = join(cmd, m.onInput(ev))
	}
	return cmd
}
