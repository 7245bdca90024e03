package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// maxTabTitle is how many columns a tab's title may take in the bar.
const maxTabTitle = 24

// tabLabel is a tab as the bar shows it.
func (m *Model) tabLabel(i int) (string, term.Style) {
	t := m.tabs[i]
	mark, _, urgent := t.mark()
	title := view.Clip(view.Sanitize(t.title()), min(maxTabTitle, max(4, m.cols-12)))
	if t.muted || m.muted {
		title += " " + view.MarkMuted
	}
	label := fmt.Sprintf(" %d %s %s ", t.session.Tab, mark, title)
	switch {
	case i == m.active && urgent:
		return label, m.theme.Attention
	case i == m.active:
		return label, m.theme.ActiveTab
	case urgent:
		return label, m.theme.Attention
	case t.dead():
		return label, m.theme.Muted
	case t.fresh:
		style := m.theme.Tab
		style.Attr |= term.Bold
		return label, style
	}
	return label, m.theme.Tab
}

// drawTabs draws the tab bar. When not all tabs fit, those around the active
// one are shown and the number of the others stands at the edges.
func (m *Model) drawTabs() *view.Surface {
	s := view.NewSurface(m.lay.Tabs, m.theme.Bar)
	if len(m.tabs) == 0 {
		s.Text(1, 0, "no tabs", m.theme.Muted)
		return s
	}
	first, last := m.tabWindow()
	x := 0
	if first > 0 {
		x = s.Text(x, 0, fmt.Sprintf("‹%d ", first), m.edgeStyle(0, first))
	}
	for i := first; i < last; i++ {
		label, style := m.tabLabel(i)
		x = s.Text(x, 0, label, style)
	}
	if n := len(m.tabs) - last; n > 0 {
		s.Right(s.At.W, fmt.Sprintf(" %d›", n), m.edgeStyle(last, len(m.tabs)))
	}
	return s
}

// edgeStyle draws attention to tabs beyond the edge that wait for the person.
func (m *Model) edgeStyle(from, to int) term.Style {
	for _, t := range m.tabs[from:to] {
		if _, _, urgent := t.mark(); urgent {
			return m.theme.Attention
		}
	}
	return m.theme.Muted
}

// tabWindow is the range of tabs that fit the bar and hold the active one.
func (m *Model) tabWindow() (first, last int) {
	width := func(i int) int {
		label, _ := m.tabLabel(i)
		return view.TextWidth(label)
	}
	const edge = 4 // columns for the number of tabs beyond an edge
	room := func(first, last int) int {
		r := m.cols
		if first > 0 {
			r -= edge
		}
		if last < len(m.tabs) {
			r -= edge
		}
		return r
	}
	first, last = m.active, m.active+1
	used := width(m.active)
	for {
		grown := false
		if last < len(m.tabs) && used+width(last) <= room(first, last+1) {
			used += width(last)
			last++
			grown = true
		}
		if first > 0 && used+width(first-1) <= room(first-1, last) {
			first--
			used += width(first)
			grown = true
		}
		if !grown {
			return first, last
		}
	}
}

// tabAt is the index of the tab drawn at a column of the bar, or -1.
func (m *Model) tabAt(x int) int {
	first, last := m.tabWindow()
	at := 0
	if first > 0 {
		at = view.TextWidth(fmt.Sprintf("‹%d ", first))
	}
	for i := first; i < last; i++ {
		label, _ := m.tabLabel(i)
		w := view.TextWidth(label)
		if x >= at && x < at+w {
			return i
		}
		at += w
	}
	return -1
}
