package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

const (
	// titleEvery bounds how often the window's title changes: some programs move
	// something in theirs.
	titleEvery = time.Second
	// maxAgentTitle is how much of an agent's own title is kept, in columns.
	maxAgentTitle = 60
)

// windowTitle names what is shown, for a person who looks at a list of windows:
// what waits first, then the tab, then what its agent calls itself, which is a
// hint and no more.
func (m *Model) windowTitle() string {
	title := "ironcurtain-mux"
	if n := len(m.approvals.Items); n > 0 {
		title = fmt.Sprintf("%d waiting · %s", n, title)
	}
	if t := m.current(); t != nil {
		title += fmt.Sprintf(" · %d %s", t.session.Tab, view.Sanitize(t.title()))
		if t.agentTitle != "" {
			title += ": " + t.agentTitle
		}
	}
	return title
}

// retitle brings the title of the person's window up to date, now or when it may
// change again.
func (m *Model) retitle() tea.Cmd {
	title := m.windowTitle()
	if title == m.titled || m.cols == 0 || m.retitling {
		return nil
	}
	if wait := titleEvery - m.now().Sub(m.titledAt); wait > 0 && m.titled != "" {
		m.retitling = true
		return m.after(wait, retitleMsg{})
	}
	m.titled, m.titledAt = title, m.now()
	m.sink.Request(func(d view.Display) error { return d.SetTitle(title) })
	return nil
}
