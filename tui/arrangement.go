package tui

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Arrangement is how a view arranges the tabs, by their sessions.
type Arrangement struct {
	Tabs  []broker.SessionID // in the order of the bar
	Front broker.SessionID   // has the focus
	Split []broker.SessionID // are shown together
	Down  bool               // one below the other
	Zoom  bool               // only the one with the focus is shown
	Muted []broker.SessionID // are not announced
	Quiet bool               // no tab is announced
}

// arrangement returns how the tabs are arranged now.
func (m *Model) arrangement() Arrangement {
	a := Arrangement{Split: slices.Clone(m.split.ids), Down: m.split.down, Zoom: m.split.zoom, Quiet: m.muted}
	for _, t := range m.tabs {
		a.Tabs = append(a.Tabs, t.session.ID)
		if t.muted {
			a.Muted = append(a.Muted, t.session.ID)
		}
	}
	if t := m.current(); t != nil {
		a.Front = t.session.ID
	}
	return a
}

// rearrange arranges the tabs as they were in another view. Tabs that were not there come last, in
// the order of their numbers, and sessions without a tab are left out.
func (m *Model) rearrange(a Arrangement) {
	front := m.current()
	place := func(t *tab) int {
		if at := slices.Index(a.Tabs, t.session.ID); at >= 0 {
			return at
		}
		return len(a.Tabs)
	}
	slices.SortStableFunc(m.tabs, func(x, y *tab) int { return place(x) - place(y) })
	m.active = max(0, slices.Index(m.tabs, front))
	m.muted = a.Quiet
	for _, t := range m.tabs {
		t.muted = t.muted || slices.Contains(a.Muted, t.session.ID)
	}
	m.split = split{ids: slices.Clone(a.Split), down: a.Down, zoom: a.Zoom}
	for _, id := range a.Split {
		if m.tabOf(id) == nil {
			m.split.drop(id)
		}
	}
	m.split.fit(m.lay.Viewport)
	m.show(m.indexOf(a.Front))
}
