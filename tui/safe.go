package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// inSafeView lists the commands that need no tab.
func inSafeView() []string {
	return []string{"approve", "approve+", "deny", "history", "grants", "revoke", "help", "detach"}
}

// errSafe is the error of everything else.
func errSafe() error {
	return fault.New("/detach, and attach again for the panes", "the safe view only has /%s", strings.Join(inSafeView(), ", /"))
}

// noteSession keeps a session in the list of the safe view, which has no tabs.
func (m *Model) noteSession(s broker.Session) {
	m.dirty = true
	m.sessions = slices.DeleteFunc(m.sessions, func(x broker.Session) bool { return x.ID == s.ID })
	if s.State != broker.StateClosed {
		m.sessions = append(m.sessions, s)
	}
	slices.SortFunc(m.sessions, func(a, b broker.Session) int { return a.Tab - b.Tab })
}

// drawSafe draws what the safe view has in place of panes.
func (m *Model) drawSafe() *view.Surface {
	s := view.NewSurface(m.lay.Viewport, m.theme.Body)
	rows := view.WrapWords("safe view: the view has failed twice, so no panes are shown; the daemon's log says how. The agents run on.", max(1, s.At.W-2))
	rows = append(rows, "")
	for _, x := range m.sessions {
		rows = append(rows, fmt.Sprintf("%d  %-12s  %-9s  %s", x.Tab, text.Drawable(x.Agent), x.State, shortID(x.ID)))
	}
	if len(m.sessions) == 0 {
		rows = append(rows, "no session is open")
	}
	for y, row := range rows[:min(len(rows), s.At.H)] {
		s.Text(1, y, view.Clip(row, s.At.W-2), m.theme.Body)
	}
	return s
}

// safeHints returns what the person can do in the safe view.
func (m *Model) safeHints() []string {
	return []string{input.DisplayKey(m.keys.CommandKey) + " to decide", "/detach leaves"}
}
