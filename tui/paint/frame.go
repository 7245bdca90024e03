package paint

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Frame copies the screen f into the rectangle of w columns and h rows at x, y. It begins with
// the cell fromX, fromY of the screen. It skips lines that have not changed since the last copy
// to this place and were not drawn over. It blanks the part of the rectangle for which the frame
// has no cells. A term.Frame must always be filled from the same Screen; otherwise call Redraw
// first.
func (c *Canvas) Frame(x, y, w, h int, f *term.Frame, fromX, fromY int) {
	for i := range h {
		row := y + i
		if row < 0 || row >= c.rows {
			continue
		}
		if fromY+i >= min(len(f.Lines), f.Rows) {
			c.Fill(x, row, w, 1, term.Style{})
			continue
		}
		c.line(x, row, w, f, fromX, fromY+i)
	}
}

// FrameCursor shows the cursor of a frame that Frame copied to this place, if it is
// visible and inside the rectangle.
func (c *Canvas) FrameCursor(x, y, w, h int, f *term.Frame, fromX, fromY int) {
	cur := f.Cursor
	cur.X -= fromX
	cur.Y -= fromY
	if cur.X < 0 || cur.X >= w || cur.Y < 0 || cur.Y >= h {
		cur.Visible = false
	}
	cur.X += x
	cur.Y += y
	c.SetCursor(cur)
}

// line copies line i of f, from a column on, into row y.
func (c *Canvas) line(x, y, w int, f *term.Frame, from, i int) {
	line := &f.Lines[i]
	want := blit{frame: f, from: from, line: i, offset: f.Offset, alt: f.AltScreen, generation: line.Generation, x: x, w: w}
	if slices.Contains(c.blits[y], want) {
		return
	}
	x0, x1 := max(x, 0), min(x+w, c.cols)
	if x0 >= x1 {
		return
	}
	c.split(x0, x1, y)
	cells := line.Cells[min(from, len(line.Cells)):]
	for col := x0; col < x1; col++ {
		src := col - x
		if src >= len(cells) {
			c.set(col, y, blank)
			continue
		}
		if s := &cells[src]; s.Width == 1 && *s == c.cells[y*c.cols+col] {
			continue
		}
		c.set(col, y, whole(cells, src, col, x0, x1))
	}
	c.blits[y] = append(c.blits[y], want)
}

// whole returns cell src of a line for column col, where the columns x0 to x1 are drawn.
// It returns a blank for a wide character whose other half is outside of them.
func whole(cells []term.Cell, src, col, x0, x1 int) term.Cell {
	cell := cells[src]
	switch {
	case cell.Width == 1:
		return tidy(cell)
	case cell.Width == 2 && col+1 < x1 && src+1 < len(cells) && cells[src+1].Width == 0:
		return cell
	case cell.Width == 0 && col > x0 && src > 0 && cells[src-1].Width == 2:
		return term.Cell{Style: cells[src-1].Style}
	}
	return tidy(term.Cell{Width: 1, Style: cell.Style})
}
