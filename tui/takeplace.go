package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// A tab that gives way to another one, because its agent was begun anew or went on,
// leaves it what the person gave it: its place in the bar and in the split, its name,
// and whether it announces anything. What its agent wrote stands above what the new one
// writes, in the scrollback. The number is new: a number never means another session
// than it once did.

// takePlace lets a tab take the place of another one, which is closed.
func (m *Model) takePlace(of, by *tab) tea.Cmd {
	at, before := m.indexOf(of.session.ID), m.before
	for i, id := range m.split.ids {
		if id == of.session.ID {
			m.split.ids[i] = by.session.ID
		}
	}
	by.inherit(of, "begun anew at "+m.now().Format(time.TimeOnly))
	cmd := m.closeTab(of)
	m.moveTab(by, at)
	m.show(at)
	if m.before = before; before == of.session.ID {
		m.before = by.session.ID
	}
	return cmd
}

// renewTab gives a session that goes on in the place of its dead tab a tab of its own
// there.
func (m *Model) renewTab(old *tab, s broker.Session) tea.Cmd {
	at, focused, split := m.indexOf(s.ID), m.current() == old, m.split
	cmd := join(m.removeTab(old), m.addTab(s))
	if t := m.tabOf(s.ID); t != nil {
		t.inherit(old, "resumed at "+m.now().Format(time.TimeOnly))
		m.split = split
		m.moveTab(t, at)
		if focused {
			m.active = at
		}
		m.arrange()
	}
	return cmd
}

// inherit takes over what a person gave a tab, and its scrollback with a line below it
// that says what happened.
func (t *tab) inherit(from *tab, happened string) {
	t.name, t.muted = from.name, from.muted
	text := "── " + happened + " ──"
	line := view.NewSurface(view.Rect{W: view.TextWidth(text), H: 1}, term.Style{})
	line.Text(0, 0, text, term.Style{Attr: term.Dim})
	t.pane.screen.Inherit(from.pane.screen, line.Row(0))
}

// moveTab moves a tab to a place in the bar. The focus stays where it is.
func (m *Model) moveTab(t *tab, at int) {
	focused := m.current()
	rest := slices.DeleteFunc(slices.Clone(m.tabs), func(x *tab) bool { return x == t })
	m.tabs = slices.Insert(rest, min(at, len(rest)), t)
	m.active = slices.Index(m.tabs, focused)
	m.dirty = true
}
