package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Rights are what the person may do in a view.
type Rights uint8

// The rights of a view.
const (
	Operate Rights = iota // everything
	See                   // look at everything, and change nothing but this view
)

// harmless are the commands that change nothing but the view. A command that is not named here
// needs the right to operate.
var harmless = map[string]bool{
	"diff": true, "log": true, "done": true, "history": true, "grants": true, "budget": true, "servers": true, "registries": true,
	"tab": true, "next": true, "prev": true, "last": true,
	"split": true, "unsplit": true, "break": true, "swap": true, "resize": true, "layout": true,
	"zoom": true, "pan": true, "focus": true, "copy": true,
	"theme": true, "mute": true, "help": true, "detach": true,
}

// mayOperate reports whether the person may change more than the view. Every such change asks it first.
func (m *Model) mayOperate() bool { return m.o.Rights == Operate }

// errReadOnly is the error of an action that a read-only view does not allow.
func errReadOnly(what string) error {
	return fault.New("attach without --read-only", "%s: this view is read-only", what)
}

// runCommand runs a slash command, if the person may.
func (m *Model) runCommand(c command, args string) (tea.Cmd, error) {
	if !m.mayOperate() && !harmless[c.name] {
		return nil, errReadOnly("/" + c.name)
	}
	return c.run(m, args)
}

// inSafeView lists the commands that need no tab.
func inSafeView() []string {
	return []string{"approve", "approve+", "deny", "history", "grants", "revoke", "help", "detach"}
}

// errSafe is the error of every other command in the safe view.
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

// drawSafe draws the safe view's list of sessions.
func (m *Model) drawSafe() *view.Surface {
	s := view.NewSurface(m.lay.Viewport, m.theme.Body)
	rows := view.WrapWords("safe view: the view has failed twice, so no panes are shown; the daemon's log says why. The agents keep running.", max(1, s.At.W-2))
	rows = append(rows, "")
	for _, x := range m.sessions {
		rows = append(rows, fmt.Sprintf("%-12s  %-9s  %s", text.Drawable(x.Agent), x.State, broker.ShortID(x.ID)))
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
