package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// findTab returns the tab with a number, or else the tab that namedTab finds.
func (m *Model) findTab(arg string) (*tab, error) {
	if n, ok := input.Number(arg); ok && n < 1e7 { // a short id may consist of digits, but has eight or more
		if t := m.numbered(n); t != nil {
			return t, nil
		}
		return nil, m.noSuchTab(n)
	}
	return m.namedTab(arg)
}

// namedTab returns the tab with a short id, a name, or a name that begins so. The error lists the
// open tabs.
func (m *Model) namedTab(arg string) (*tab, error) {
	for _, t := range m.tabs {
		if broker.ShortID(t.session.ID) == arg {
			return t, nil
		}
	}
	for _, same := range []func(name string) bool{
		func(name string) bool { return name == arg },
		func(name string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(arg)) },
	} {
		var found []*tab
		for _, t := range m.tabs {
			if same(t.title()) {
				found = append(found, t)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, fault.New("use the number", "%q fits several tabs: %s", arg, m.tabList(found))
		}
	}
	if len(m.tabs) == 0 {
		return nil, fmt.Errorf("no tab is called %q: none is open", arg)
	}
	var names []string
	for _, t := range m.tabs {
		names = append(names, t.title())
	}
	return nil, fmt.Errorf("no tab is called %q; open: %s%s", arg, m.tabList(m.tabs), text.DidYouMean(arg, names))
}

// tabList lists tabs by number and title.
func (m *Model) tabList(tabs []*tab) string {
	var out []string
	for _, t := range tabs {
		out = append(out, fmt.Sprintf("%d %s", m.place(t), t.title()))
	}
	return strings.Join(out, ", ")
}

// The number of a tab is its place in the bar, from 1. It changes when a tab before it is closed or
// moved, so it is only used on parts of the screen that are drawn again after each change. Everything
// else names a tab by its title and its session.

// place returns the number of a tab.
func (m *Model) place(t *tab) int { return slices.Index(m.tabs, t) + 1 }

// numbered returns the tab with a number, or nil.
func (m *Model) numbered(n int) *tab {
	if n < 1 || n > len(m.tabs) {
		return nil
	}
	return m.tabs[n-1]
}

// errNoTab is the error of a command that needs a tab when no tab is open. purpose says what the tab
// is needed for: "to close".
func errNoTab(purpose string) error {
	return fault.New("/new opens a tab", "there is no tab %s", purpose)
}

// noSuchTab is the error that no tab has a number; it says which numbers there are.
func (m *Model) noSuchTab(n int) error {
	switch len(m.tabs) {
	case 0:
		return fmt.Errorf("no tab %d: none is open", n)
	case 1:
		return fmt.Errorf("no tab %d: one is open", n)
	}
	return fmt.Errorf("no tab %d; open: 1 to %d", n, len(m.tabs))
}

// sessionLabel names a session by the number of its tab, or by its id if it has no tab. It is for
// parts of the screen that are drawn again after each change.
func (m *Model) sessionLabel(id broker.SessionID) string {
	if t := m.tabOf(id); t != nil {
		return fmt.Sprintf("tab %d", m.place(t))
	}
	return broker.ShortID(id)
}

// order puts the tabs into the broker's order. The focus stays where it is.
func (m *Model) order() {
	focused := m.current()
	slices.SortStableFunc(m.tabs, func(a, b *tab) int { return a.session.Tab - b.session.Tab })
	m.active, m.dirty = max(0, slices.Index(m.tabs, focused)), true
}

// When an agent is restarted or resumed, its new tab replaces the old one. It keeps what
// the person gave the old tab: its place in the bar and among panes, its name, and whether
// it is muted. Its scrollback begins with the old tab's lines.

// replaceTab puts the tab by into the place of the tab old, and closes old.
func (m *Model) replaceTab(old, by *tab) tea.Cmd {
	at, before := m.indexOf(old.session.ID), m.previous
	m.swapPanes(old.session.ID, by.session.ID)
	by.inherit(old, "restarted at "+m.now().Format(time.TimeOnly))
	cmd := m.closeTab(old)
	m.moveTab(by, at)
	m.show(at)
	if m.previous = before; before == old.session.ID {
		m.previous = by.session.ID
	}
	return cmd
}

// renewTab replaces the tab of a session that was resumed by a new tab.
func (m *Model) renewTab(old *tab, s broker.Session) tea.Cmd {
	at, focused, groups := m.indexOf(s.ID), m.current() == old, slices.Clone(m.groups)
	cmd := join(m.removeTab(old), m.addTab(s))
	if t := m.tabOf(s.ID); t != nil {
		t.inherit(old, "resumed at "+m.now().Format(time.TimeOnly))
		m.groups = groups
		m.moveTab(t, at)
		if focused {
			m.active = at
		}
		m.arrange()
	}
	return cmd
}

// inherit takes over whether another tab is muted, and its scrollback. Below the scrollback it adds
// a line that says what happened.
func (t *tab) inherit(from *tab, happened string) {
	t.muted = from.muted
	text := "── " + happened + " ──"
	line := view.NewSurface(view.Rect{W: view.TextWidth(text), H: 1}, term.Style{})
	line.Text(0, 0, text, term.Style{})
	t.pane.Inherit(from.pane.Pane, line.Row(0))
}

// moveTab moves a tab to a place in the bar. The focus stays where it is.
func (m *Model) moveTab(t *tab, at int) {
	focused := m.current()
	rest := slices.DeleteFunc(slices.Clone(m.tabs), func(x *tab) bool { return x == t })
	m.tabs = slices.Insert(rest, min(at, len(rest)), t)
	m.active = slices.Index(m.tabs, focused)
	m.dirty = true
}

// A window of a daemon's view that is smaller than this size does not make a larger tab smaller. A
// tab that is opened in such a window begins with this size.
const (
	wideCols = 80
	wideRows = 24
)

// small reports whether the person's window is so small that it does not make a larger tab smaller.
func (m *Model) small() bool { return m.o.Detach && (m.cols < wideCols || m.rows < wideRows) }

// firstSize returns the size with which a tab begins that is opened in a part of this window.
func (m *Model) firstSize(at view.Rect) (cols, rows int) {
	if m.small() || !m.mayOperate() {
		return wideCols, wideRows
	}
	return max(1, at.W), max(1, at.H)
}

// arrange sets the size of every pane, which panes are visible and which one gets the
// input. Hidden panes get the size of the viewport, so that showing one needs no resize.
func (m *Model) arrange() {
	m.dirty = true
	var front broker.SessionID
	if t := m.current(); t != nil {
		front = t.session.ID
	}
	m.o.Front(front)
	if len(m.tabs) > 0 { // or the tabs are not listed yet
		m.o.Arranged(m.arrangement())
	}
	if !m.fits {
		return
	}
	tabs, parts := m.visibleTabs()
	size := map[*tab]view.Rect{}
	for i, t := range tabs {
		size[t] = parts[i]
	}
	for _, t := range m.tabs {
		r, seen := size[t]
		if !seen {
			r = m.lay.Viewport
		}
		t.pane.SetVisible(seen)
		t.pane.SetWatching(m.stalled)
		t.pane.SetSize(r.W, r.H, m.small())
	}
	if t := m.current(); t != nil {
		m.gate.Focus(t.pane.Queue)
	} else {
		m.gate.Focus(nil)
	}
	m.reportFocus()
}

// Arrangement is how a view arranges the tabs, by their sessions.
type Arrangement struct {
	Front  broker.SessionID   // the session whose tab has the focus
	Groups []Group            `json:",omitempty"`
	Muted  []broker.SessionID // whose events are not announced
	Quiet  bool               // nothing is announced
	Aside  []string           // the calls that the strip does not show
}

// Group is a group of tabs that a view shows together.
type Group struct {
	Panes layout.Tree // of sessions
	Zoom  bool        `json:",omitempty"` // only the pane that had the focus last is shown
}

// Mutes reports whether the tab of a session is muted.
func (a Arrangement) Mutes(id broker.SessionID) bool {
	return a.Quiet || slices.Contains(a.Muted, id)
}

// arrangement returns how the tabs are arranged now.
func (m *Model) arrangement() Arrangement {
	a := Arrangement{Quiet: m.muted, Aside: m.approvals.Aside()}
	for _, g := range m.groups {
		a.Groups = append(a.Groups, Group{g.panes, g.zoom})
	}
	for _, t := range m.tabs {
		if t.muted {
			a.Muted = append(a.Muted, t.session.ID)
		}
	}
	if t := m.current(); t != nil {
		a.Front = t.session.ID
	}
	return a
}

// rearrange arranges the tabs as they were in another view. Sessions without a tab are left out.
func (m *Model) rearrange(a Arrangement) {
	m.muted = a.Quiet
	m.approvals.TakeAside(a.Aside)
	for _, t := range m.tabs {
		t.muted = t.muted || slices.Contains(a.Muted, t.session.ID)
	}
	m.groups = nil
	for _, g := range a.Groups {
		panes := g.Panes.Keep(func(id broker.SessionID) bool { return m.tabOf(id) != nil && m.groupOf(id) == nil })
		if len(panes.Parts) > 0 {
			m.groups = append(m.groups, group{panes: panes, zoom: g.Zoom})
		}
	}
	m.arrange()
	m.show(m.indexOf(a.Front))
}

// latest returns which of some sessions' tabs had the focus last in this view. If none had it, it
// returns the first one with a tab; empty: none has a tab.
func (m *Model) latest(ids []broker.SessionID) broker.SessionID {
	var last *tab
	for _, id := range ids {
		if t := m.tabOf(id); t != nil && (last == nil || t.focused > last.focused) {
			last = t
		}
	}
	if last == nil {
		return ""
	}
	return last.session.ID
}
