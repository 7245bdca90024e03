package view

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Title is the row above a pane: a line with a label in it, which separates the pane from what is above.
type Title struct {
	At      Rect // one row
	Rows    int  // of the pane below
	Label   string
	State   string // after the label, if there is room
	Focused bool   // the pane has the focus
	Urgent  bool   // the pane's tab waits for the person
}

// Borders are the lines between the panes of a group.
type Borders struct {
	Titles []Title
	Lines  []Rect // one column each, between panes that are side by side
}

// Draw draws the lines. The lines around the focused pane have a style of their own, and the line above
// it is heavy.
func (b Borders) Draw(theme Theme) []*Surface {
	out := make([]*Surface, 0, len(b.Titles)+len(b.Lines))
	for _, t := range b.Titles {
		out = append(out, b.title(t, theme))
	}
	for _, at := range b.Lines {
		s := NewSurface(at, theme.Border)
		for y := range at.H {
			style := theme.Border
			if b.besideFocused(at.X, at.Y+y) {
				style = theme.Title
			}
			s.Row(y)[0] = term.Cell{Rune: b.crossing(at.X, at.Y+y), Width: 1, Style: style}
		}
		out = append(out, s)
	}
	return out
}

func (b Borders) title(t Title, theme Theme) *Surface {
	rule, joint, style, label := '─', '┴', theme.Border, term.Style{}
	if t.Focused {
		rule, joint, style, label = '━', '┷', theme.Title, theme.Title
	}
	if t.Urgent {
		label = theme.Attention
	}
	s := NewSurface(t.At, style)
	row := s.Row(0)
	for x := range row {
		row[x].Rune = rule
		if b.line(t.At.X+x, t.At.Y-1) {
			row[x].Rune = joint
		}
	}
	text := t.Label
	if t.State != "" && TextWidth(text+t.State)+7 <= t.At.W {
		text += " · " + t.State
	}
	s.Text(1, 0, " "+Clip(text, t.At.W-4)+" ", label)
	return s
}

// crossing returns the character of a cell of a line, which depends on the titles beside the cell and
// the line above it.
func (b Borders) crossing(x, y int) rune {
	left, right, above := b.titled(x-1, y), b.titled(x+1, y), b.line(x, y-1)
	switch {
	case left && right && above:
		return '┼'
	case left && right:
		return '┬'
	case left:
		return '┤'
	case right:
		return '├'
	}
	return '│'
}

func (b Borders) line(x, y int) bool {
	return slices.ContainsFunc(b.Lines, func(at Rect) bool { return at.Contains(x, y) })
}

func (b Borders) titled(x, y int) bool {
	return slices.ContainsFunc(b.Titles, func(t Title) bool { return t.At.Contains(x, y) })
}

// besideFocused reports whether a cell of a line touches the focused pane.
func (b Borders) besideFocused(x, y int) bool {
	return slices.ContainsFunc(b.Titles, func(t Title) bool {
		return t.Focused && y >= t.At.Y && y <= t.At.Y+t.Rows && (x == t.At.X-1 || x == t.At.X+t.At.W)
	})
}
