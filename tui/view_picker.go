package tui

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// drawPicker draws the list of sessions over the viewport.
func (m *Model) drawPicker() *view.Surface {
	s := view.NewSurface(m.listRect(), m.theme.Body)
	s.Fill(0, m.theme.Title)
	p := &m.picker
	title := "sessions, those used last first"
	switch {
	case !p.loaded && p.offer:
		title = "looking for agents that were left running"
	case !p.loaded:
		title = "looking for sessions"
	case p.offer:
		title = "these agents still run although their multiplexer was killed"
	case len(p.rows) == 0:
		title = "there is no session to continue"
	}
	height := max(1, s.At.H-1)
	p.top = min(max(p.top, p.at-height+1), p.at)
	if below := len(p.rows) - p.top - height; below > 0 {
		title += fmt.Sprintf(" · %d more ↓", below)
	}
	s.Text(1, 0, view.Clip(title, s.At.W-1), m.theme.Title)
	states := 0 // the width of the longest state, in columns
	for _, row := range p.rows {
		states = max(states, view.TextWidth(m.storedState(row)))
	}
	for y := 0; y < height && p.top+y < len(p.rows); y++ {
		style := m.theme.Body
		if p.top+y == p.at {
			style = m.theme.Selection
			s.Fill(1+y, style)
		}
		s.Text(1, 1+y, view.Clip(m.pickerRow(p.rows[p.top+y], states), s.At.W-2), style)
	}
	return s
}

// pickerRow describes a session in one line: its id, agent, state and age, its workspace
// unless that is its own sandbox, and the last prompt.
func (m *Model) pickerRow(s broker.StoredSession, states int) string {
	parts := []string{
		shortID(s.ID),
		fmt.Sprintf("%-12s", text.Drawable(s.Agent)),
		fmt.Sprintf("%-*s", states, m.storedState(s)),
		fmt.Sprintf("%-8s", view.Age(m.now().Sub(s.LastActivity))),
	}
	if tree := s.Worktree; tree != nil {
		parts = append(parts, view.PlaceColumn(tree.Repository), text.Drawable(tree.Branch))
	} else if !strings.HasSuffix(s.Workspace, s.ID+"/sandbox") {
		parts = append(parts, view.PlaceColumn(s.Workspace))
	}
	if s.LastPrompt != "" {
		parts = append(parts, "“"+text.Drawable(s.LastPrompt)+"”")
	}
	return strings.Join(parts, "  ")
}

// storedState returns the words for the state of a stored session.
func (m *Model) storedState(s broker.StoredSession) string {
	switch t := m.tabOf(s.ID); {
	case t != nil:
		return fmt.Sprintf("ended, tab %d", t.session.Tab)
	case s.Owned:
		return "open elsewhere"
	case s.Detached && s.Waiting > 0:
		return fmt.Sprintf("left running, %d waiting", s.Waiting)
	case s.Detached:
		return "left running"
	case s.State == broker.StateDead:
		return "ended"
	}
	return "closed"
}
