package tui

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// The bounds of a split.
const (
	maxPanes    = 4
	minPaneCols = 10
	minPaneRows = 2
)

// A window of a daemon's view that is smaller does not make a larger tab smaller, and a tab that
// is opened in it begins with this size.
const (
	wideCols = 80
	wideRows = 24
)

// small reports whether the person's window never makes a larger tab smaller by itself.
func (m *Model) small() bool { return m.o.Detach && (m.cols < wideCols || m.rows < wideRows) }

// firstSize returns the size with which a tab begins that is shown in a part of this window.
func (m *Model) firstSize(at view.Rect) (cols, rows int) {
	if m.small() || !m.may() {
		return wideCols, wideRows
	}
	return max(1, at.W), max(1, at.H)
}

// split is a group of tabs that are shown together while one of them has the
// focus. Tabs outside the group are shown alone.
type split struct {
	ids  []broker.SessionID
	down bool // one below the other
	zoom bool // only the focused one is shown
}

// has reports whether a session is in the group.
func (s *split) has(id broker.SessionID) bool {
	for _, x := range s.ids {
		if x == id {
			return true
		}
	}
	return false
}

// drop removes a session from the group. A group with one session left ends.
func (s *split) drop(id broker.SessionID) {
	kept := s.ids[:0:0]
	for _, x := range s.ids {
		if x != id {
			kept = append(kept, x)
		}
	}
	s.ids = kept
	if len(s.ids) < 2 {
		*s = split{}
	}
}

// visibleTabs returns the tabs on the screen with their parts of the viewport.
func (m *Model) visibleTabs() ([]*tab, []view.Rect) {
	t := m.current()
	if t == nil {
		return nil, nil
	}
	if !m.split.has(t.session.ID) || m.split.zoom {
		return []*tab{t}, []view.Rect{m.lay.Viewport}
	}
	var tabs []*tab
	for _, id := range m.split.ids {
		if x := m.tabOf(id); x != nil {
			tabs = append(tabs, x)
		}
	}
	parts := view.Divide(m.lay.Viewport, len(tabs), m.split.down)
	for _, r := range parts {
		if r.W < minPaneCols || r.H < minPaneRows {
			return []*tab{t}, []view.Rect{m.lay.Viewport}
		}
	}
	return tabs, parts
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

// runSplit is /split [right|down] [N]: it shows tab N, or else the next tab that is not
// shown yet, beside the present one.
func (m *Model) runSplit(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errors.New("no tab to split")
	}
	next := m.split
	if !next.has(t.session.ID) {
		next = split{ids: []broker.SessionID{t.session.ID}}
	}
	next.ids = append([]broker.SessionID(nil), next.ids...)
	next.zoom = false
	var with *tab
	for _, word := range strings.Fields(args) {
		named, err := m.findTab(word)
		switch {
		case word == "right" || word == "down":
			next.down = word == "down"
		case err == nil:
			with = named
		default:
			return nil, fmt.Errorf("/split takes right or down, and a tab: %w", err)
		}
	}
	for i := 1; with == nil && i < len(m.tabs); i++ {
		if x := m.tabs[(m.active+i)%len(m.tabs)]; !next.has(x.session.ID) {
			with = x
		}
	}
	if with == nil || next.has(with.session.ID) {
		return nil, fault.New("/new opens one", "no other tab to show")
	}
	next.ids = append(next.ids, with.session.ID)
	if len(next.ids) > maxPanes {
		return nil, fmt.Errorf("a split has at most %d panes", maxPanes)
	}
	for _, r := range view.Divide(m.lay.Viewport, len(next.ids), next.down) {
		if r.W < minPaneCols || r.H < minPaneRows {
			return nil, errors.New("not enough room for another pane")
		}
	}
	m.split = next
	m.leaveCommand()
	m.arrange()
	return nil, nil
}

// errNotSplit is the error of commands about a split when there is none.
func errNotSplit() error {
	return fault.New("/split shows another tab beside this one", "nothing is split")
}

// runUnsplit is /unsplit.
func (m *Model) runUnsplit(string) (tea.Cmd, error) {
	if len(m.split.ids) == 0 {
		return nil, errNotSplit()
	}
	m.split = split{}
	m.leaveCommand()
	m.arrange()
	return nil, nil
}

// runZoom is /zoom.
func (m *Model) runZoom(string) (tea.Cmd, error) {
	if len(m.split.ids) == 0 {
		return nil, errNotSplit()
	}
	m.split.zoom = !m.split.zoom
	m.leaveCommand()
	m.arrange()
	return nil, nil
}

// runFit is /fit. It asks first, because what an agent has written into few columns stays narrow.
func (m *Model) runFit(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errors.New("there is no tab to fit")
	}
	at, fitted := m.focusedRect(), t.pane
	m.ask(fmt.Sprintf("make this tab %dx%d everywhere, until somebody uses it elsewhere or you leave? What its agent writes into %s stays that narrow for good", at.W, at.H, view.Counted(at.W, "column")), func(*Model) tea.Cmd {
		fitted.Fit()
		return nil
	})
	return nil, nil
}

// runFocus is /focus: the next pane of the split gets the input.
func (m *Model) runFocus(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !m.split.has(t.session.ID) {
		return nil, errNotSplit()
	}
	for i, id := range m.split.ids {
		if id == t.session.ID {
			m.show(m.indexOf(m.split.ids[(i+1)%len(m.split.ids)]))
			break
		}
	}
	m.leaveCommand()
	return nil, nil
}
