package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// following is the log that the list shows, and the state of asking for it.
type following struct {
	id      broker.SessionID // empty: another list is shown
	asked   bool             // the broker has not answered yet
	changed bool             // there was more progress since the request
}

// runLog is /log: it shows how the agent of this tab was started.
func (m *Model) runLog(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fault.New("/new opens one", "there is no tab whose start could be shown")
	}
	m.showHelp(startLogTitle(t), []view.Line{{Text: "looking at the log"}})
	m.following = following{id: t.session.ID}
	return m.askStartLog(), nil
}

// startLogTitle is the title of the log.
func startLogTitle(t *tab) string {
	return "how " + t.name() + " was started"
}

// askStartLog asks for the log that is shown, with one request at a time.
func (m *Model) askStartLog() tea.Cmd {
	if m.following.asked {
		m.following.changed = true
		return nil
	}
	id := m.following.id
	m.following.asked, m.following.changed = true, false
	return m.do(func(ctx context.Context) tea.Msg {
		log, err := m.api.StartLog(ctx, id)
		return startLogMsg{id, log, err}
	})
}

// followLog asks for the log again after progress of a session, if its log is shown.
func (m *Model) followLog(id broker.SessionID) tea.Cmd {
	if m.mode != modeHelp || m.following.id != id {
		return nil
	}
	return m.askStartLog()
}

// onStartLog shows the log, unless the list was closed meanwhile. A list that shows its end
// still does so afterwards.
func (m *Model) onStartLog(msg startLogMsg) tea.Cmd {
	if m.mode != modeHelp || m.following.id != msg.id {
		return nil
	}
	if msg.err != nil {
		m.leaveCommand()
		m.showError(msg.err)
		return nil
	}
	m.following.asked = false
	end := m.help.AtBottom()
	m.help.Lines, m.dirty = startLogLines(msg.log), true
	m.help.Lay(m.listRect())
	if end {
		m.help.GotoBottom()
	}
	if m.following.changed {
		return m.askStartLog()
	}
	return nil
}

// startLogLines returns the sanitized lines of the log: the steps with the time since the
// start, and below each the output of its builder.
func startLogLines(log broker.StartLog) []view.Line {
	var out []view.Line
	if log.Cut > 0 {
		out = append(out, view.Line{Text: fmt.Sprintf("… %d earlier lines were not kept", log.Cut)})
	}
	for _, line := range log.Lines {
		if line.Step {
			out = append(out, view.Line{Text: text.Drawable(line.Text) + " · after " + view.Stopwatch(line.After.Truncate(time.Second)), Head: true})
			continue
		}
		out = append(out, view.Line{Text: strings.TrimSpace(text.Drawable(line.Text))})
	}
	if len(out) == 0 {
		out = append(out, view.Line{Text: "the log is empty"})
	}
	return out
}

// hasLog reports whether a builder has written something while the tab was started.
func (t *tab) hasLog() bool {
	for _, p := range t.progress {
		if p.Detail != "" || len(p.Tail) > 0 {
			return true
		}
	}
	return false
}
