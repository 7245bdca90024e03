package view

import "github.com/ironcurtain-mux/ironcurtain-mux/term"

// Crop says which part of a tab is shown when the tab is larger than its room.
type Crop struct {
	Panned bool // the part begins with the cell X, Y; otherwise it follows the cursor
	X, Y   int
}

// Origin returns which cell of a screen comes first in a part of the window.
func (c Crop) Origin(cols, rows int, cursor term.Cursor, at Rect) (x, y int) {
	if !c.Panned {
		c.X, c.Y = cursor.X-at.W+1, cursor.Y-at.H+1
	}
	return max(0, min(c.X, cols-at.W)), max(0, min(c.Y, rows-at.H))
}

// origin returns which cell of a frame comes first in a pane.
func (p PlacedPane) origin(f *term.Frame) (x, y int) {
	crop := p.Crop
	if p.Scrolled {
		top := p.Top
		if dropped := p.Screen.Dropped(); dropped > p.Dropped {
			top -= int(dropped - p.Dropped)
		}
		crop.Panned, crop.Y = true, top-(f.Scrollback-f.Offset)
	}
	return crop.Origin(f.Cols, f.Rows, f.Cursor, p.At)
}

// shown returns the part of a pane that a frame has cells for. The rest is margin; a pane
// without one shows blanks there.
func (p PlacedPane) shown(f *term.Frame) Rect {
	at := p.At
	if p.Margin.Rune != 0 {
		at.W, at.H = min(at.W, f.Cols), min(at.H, f.Rows)
	}
	return at
}
