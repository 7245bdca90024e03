package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// group is tabs that are shown together, each in a pane, while one of them has the focus. A tab is
// in one group at most; a tab in no group is shown alone. In a window that has no room for all panes,
// only the focused pane is shown until there is room again.
type group struct {
	panes  layout.Tree
	zoom   bool          // only the focused pane is shown
	named  string        // the layout that /layout gave the group last; empty: none, or changed since
	area   view.Rect     // the area for which places was computed
	places layout.Places // of the panes in area
}

// set gives the group another tree of panes.
func (g *group) set(panes layout.Tree) { g.panes, g.area = panes, view.Rect{} }

// in returns the places of the panes in an area. It computes them once for a tree and an area.
func (g *group) in(area view.Rect) layout.Places {
	if g.area != area {
		g.area, g.places = area, g.panes.Place(area)
	}
	return g.places
}

// groupOf returns the group of a session's tab, or nil. The pointer is valid until a group is added or
// removed.
func (m *Model) groupOf(id broker.SessionID) *group {
	for i := range m.groups {
		if m.groups[i].panes.Has(id) {
			return &m.groups[i]
		}
	}
	return nil
}

// panesOf returns the panes of a tab's group; a tab in no group has one pane.
func (m *Model) panesOf(t *tab) layout.Tree {
	if g := m.groupOf(t.session.ID); g != nil {
		return g.panes
	}
	return layout.Of(t.session.ID)
}

// leaveGroup takes a tab out of its group. A group with one tab left ends.
func (m *Model) leaveGroup(id broker.SessionID) {
	g := m.groupOf(id)
	if g == nil {
		return
	}
	g.set(g.panes.Remove(id))
	if t := m.current(); t != nil && t.session.ID == id {
		g.zoom = false
	}
	m.dropSmallGroups()
}

// dropSmallGroups ends the groups that have one tab or none.
func (m *Model) dropSmallGroups() {
	m.groups = slices.DeleteFunc(m.groups, func(g group) bool { return len(g.panes.Parts) == 0 })
}

// half is a half of a tab's pane, in which another tab is to be shown; the zero value is no half.
type half struct {
	of   broker.SessionID
	down bool // the lower half, else the right one
}

// newPane names the pane of a tab that is not open yet.
const newPane = "new"

// errNoRoom is the error of a command that would make panes too small.
func errNoRoom() error {
	return fault.New(fmt.Sprintf("a pane has %dx%d cells at least", layout.MinCols, layout.MinRows), "not enough room for another pane")
}

// halved returns the panes of a tab's group with another one in a half of the tab's pane.
func (m *Model) halved(t *tab, other broker.SessionID, down bool) (layout.Tree, error) {
	panes := m.panesOf(t).Remove(other).Split(t.session.ID, other, down, m.lay.Viewport)
	if !panes.Fits(m.lay.Viewport) {
		return panes, errNoRoom()
	}
	return panes, nil
}

// room returns the part of the viewport that a tab will have in a half of a pane; without a half, it
// returns the whole viewport.
func (m *Model) room(h half) view.Rect {
	if t := m.tabOf(h.of); t != nil {
		if panes, err := m.halved(t, newPane, h.down); err == nil {
			for _, p := range panes.Place(m.lay.Viewport).Panes {
				if p.Pane == newPane {
					return p.At
				}
			}
		}
	}
	return m.lay.Viewport
}

// splitWith shows another tab in a half of a tab's pane, and gives it the focus.
func (m *Model) splitWith(t, other *tab, down bool) error {
	if t == other {
		return fault.New("name another tab, or none for a new one", "this tab is shown here already")
	}
	panes, err := m.halved(t, other.session.ID, down)
	if err != nil {
		return err
	}
	m.leaveGroup(other.session.ID)
	g := m.groupOf(t.session.ID)
	if g == nil {
		m.groups = append(m.groups, group{})
		g = &m.groups[len(m.groups)-1]
	}
	g.set(panes)
	g.zoom, g.named = false, ""
	m.show(m.indexOf(other.session.ID))
	m.usePanes()
	return nil
}

// runSplit is /split [right|down] [N]: it shows tab N beside the present one or, without a number,
// the next tab that is in no group, or else a new one like it.
func (m *Model) runSplit(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to split")
	}
	down := false
	var with *tab
	for _, word := range strings.Fields(args) {
		named, err := m.findTab(word)
		switch {
		case word == "right" || word == "down":
			down = word == "down"
		case err == nil:
			with = named
		default:
			return nil, fmt.Errorf("/split takes right or down, and a tab: %w", err)
		}
	}
	for i := 1; with == nil && i < len(m.tabs); i++ {
		if x := m.tabs[(m.active+i)%len(m.tabs)]; m.groupOf(x.session.ID) == nil {
			with = x
		}
	}
	if with != nil {
		if err := m.splitWith(t, with, down); err != nil {
			return nil, err
		}
		m.leaveCommand()
		return nil, nil
	}
	if !m.mayOperate() {
		return nil, errReadOnly("/split: every tab is shown, and a new one cannot be opened")
	}
	if _, err := m.halved(t, newPane, down); err != nil {
		return nil, err
	}
	o := anotherLike(t)
	o.beside = half{t.session.ID, down}
	m.leaveCommand()
	return m.open(o), nil
}

// grouped returns the focused tab and its group, or the error of commands about a group when it is in none.
func (m *Model) grouped() (*tab, *group, error) {
	if t := m.current(); t != nil {
		if g := m.groupOf(t.session.ID); g != nil {
			return t, g, nil
		}
	}
	return nil, nil, fault.New("/split shows another tab beside it", "this tab is not split")
}

// regrouped arranges the panes and returns to the agent after a person has changed a group.
func (m *Model) regrouped() (tea.Cmd, error) {
	m.leaveCommand()
	m.arrange()
	m.usePanes()
	return nil, nil
}

// runUnsplit is /unsplit.
func (m *Model) runUnsplit(string) (tea.Cmd, error) {
	_, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	g.set(layout.Tree{})
	m.dropSmallGroups()
	return m.regrouped()
}

// runZoom is /zoom.
func (m *Model) runZoom(string) (tea.Cmd, error) {
	_, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	g.zoom = !g.zoom
	return m.regrouped()
}

// runBreak is /break.
func (m *Model) runBreak(string) (tea.Cmd, error) {
	t, _, err := m.grouped()
	if err != nil {
		return nil, err
	}
	m.leaveGroup(t.session.ID)
	return m.regrouped()
}

// runFocus is /focus [left|right|up|down].
func (m *Model) runFocus(args string) (tea.Cmd, error) {
	t, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	to, err := m.paneMeant("/focus", args, t, g)
	if err != nil {
		return nil, err
	}
	m.leaveCommand()
	m.show(m.indexOf(to))
	return nil, nil
}

// paneMeant returns the pane that a word means, seen from a tab: left, right, up or down is the pane
// on that side, of several the one that had the focus last; next or an empty word is the next pane,
// and prev the previous one.
func (m *Model) paneMeant(command, word string, t *tab, g *group) (broker.SessionID, error) {
	side, ok := layout.SideNamed(word)
	switch {
	case ok:
		beside := g.in(g.panes.Grown(m.lay.Viewport)).Neighbors(t.session.ID, side)
		if len(beside) == 0 {
			return "", fmt.Errorf("%s %s: there is no pane on that side", command, word)
		}
		return m.latest(beside), nil
	case word == "" || word == "next" || word == "prev":
		ids, step := g.panes.Panes(), 1
		if word == "prev" {
			step = len(ids) - 1
		}
		return ids[(slices.Index(ids, t.session.ID)+step)%len(ids)], nil
	}
	return "", fmt.Errorf("%s %s: takes left, right, up, down, next or prev", command, word)
}

// runSwap is /swap [left|right|up|down|next|prev|N]: it swaps the places of two tabs. The tab keeps the
// focus. If it leaves the screen, the tab in its place gets the focus.
func (m *Model) runSwap(args string) (tea.Cmd, error) {
	t, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	a := t.session.ID
	b, err := m.paneMeant("/swap", args, t, g)
	if err != nil {
		named, unknown := m.findTab(args)
		if _, number := input.Number(args); number && unknown != nil {
			return nil, unknown
		}
		if _, side := layout.SideNamed(args); side || unknown != nil {
			return nil, err
		}
		b = named.session.ID
	}
	stays := g.panes.Has(b)
	g.zoom = false
	m.swapPanes(a, b)
	if !stays {
		m.show(m.indexOf(b))
	}
	return m.regrouped()
}

// swapPanes swaps the panes of two tabs.
func (m *Model) swapPanes(a, b broker.SessionID) {
	for i := range m.groups {
		m.groups[i].set(m.groups[i].panes.Swap(a, b))
	}
}

// runResize is /resize left|right|up|down [N].
func (m *Model) runResize(args string) (tea.Cmd, error) {
	t, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	word, number, _ := strings.Cut(args, " ")
	side, ok := layout.SideNamed(word)
	n := 1
	if number = strings.TrimSpace(number); ok && number != "" {
		n, ok = input.Number(number)
	}
	if !ok || n < 1 {
		return nil, fmt.Errorf("%s: takes left, right, up or down, and a number of cells", strings.TrimSpace("/resize "+args))
	}
	if !g.panes.Fits(m.lay.Viewport) {
		return nil, errNoRoom()
	}
	panes, moved := g.panes.Resize(t.session.ID, side, n, m.lay.Viewport)
	if !moved {
		return nil, fmt.Errorf("/resize %s: no border of this pane can be moved that way", word)
	}
	g.set(panes)
	g.zoom, g.named = false, ""
	return m.regrouped()
}

// runLayout is /layout [even|even-down|main|tiled]. Without a word it chooses the next layout that fits.
func (m *Model) runLayout(args string) (tea.Cmd, error) {
	_, g, err := m.grouped()
	if err != nil {
		return nil, err
	}
	names := []string{args}
	if args == "" { // all of them, from the one after the present one
		next := slices.Index(layout.Names, g.named) + 1
		names = slices.Concat(layout.Names[next:], layout.Names[:next])
	} else if !slices.Contains(layout.Names, args) {
		return nil, fmt.Errorf("/layout %s: takes one of %s", args, strings.Join(layout.Names, ", "))
	}
	for _, name := range names {
		if panes := layout.Named(name, g.panes.Panes()); panes.Fits(m.lay.Viewport) {
			g.set(panes)
			g.zoom, g.named = false, name
			return m.regrouped()
		}
	}
	return nil, errNoRoom()
}
