package view

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Tab is a tab as the bar shows it.
type Tab struct {
	Label  string
	Style  term.Style
	Urgent bool // the tab waits for the person
}

// TabBar is the bar of tabs.
type TabBar struct {
	Tabs   []Tab
	Active int
	Width  int
}

// Draw draws the bar. If not all tabs fit, it shows the tabs around the active one, and at each edge
// the number of tabs beyond it.
func (b TabBar) Draw(at Rect, theme Theme) *Surface {
	s := NewSurface(at, theme.Body)
	if len(b.Tabs) == 0 {
		s.Line(0, s.Text(1, 0, "no tabs", theme.Muted), s.At.W+1, theme.Border)
		return s
	}
	first, last := b.window()
	x := 0
	if first > 0 {
		x = s.Text(x, 0, fmt.Sprintf("‹%d ", first), edgeStyle(b.Tabs[:first], theme))
	}
	for _, t := range b.Tabs[first:last] {
		x = s.Text(x, 0, t.Label, t.Style)
	}
	end := s.At.W
	if n := len(b.Tabs) - last; n > 0 {
		end = s.Right(end, fmt.Sprintf(" %d›", n), edgeStyle(b.Tabs[last:], theme))
	} else {
		end++
	}
	s.Line(0, x-1, end, theme.Border)
	return s
}

// edgeStyle returns the style of the number at an edge. It stands out if a tab beyond the edge waits
// for the person.
func edgeStyle(tabs []Tab, theme Theme) term.Style {
	for _, t := range tabs {
		if t.Urgent {
			return theme.Attention
		}
	}
	return theme.Muted
}

// window returns the range of tabs, with the active one among them, that fit the bar.
func (b TabBar) window() (first, last int) {
	width := func(i int) int { return TextWidth(b.Tabs[i].Label) }
	const edge = 4 // columns for the number of tabs beyond an edge
	room := func(first, last int) int {
		r := b.Width
		if first > 0 {
			r -= edge
		}
		if last < len(b.Tabs) {
			r -= edge
		}
		return r
	}
	first, last = b.Active, b.Active+1
	used := width(b.Active)
	for {
		grown := false
		if last < len(b.Tabs) && used+width(last) <= room(first, last+1) {
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

// At returns the index of the tab drawn at a column, or -1.
func (b TabBar) At(x int) int {
	if len(b.Tabs) == 0 {
		return -1
	}
	first, last := b.window()
	at := 0
	if first > 0 {
		at = TextWidth(fmt.Sprintf("‹%d ", first))
	}
	for i := first; i < last; i++ {
		w := TextWidth(b.Tabs[i].Label)
		if x >= at && x < at+w {
			return i
		}
		at += w
	}
	return -1
}
