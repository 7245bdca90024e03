package paint

import "github.com/ironcurtain-mux/ironcurtain-mux/term"

// Canvas is a picture of cells. It records which cells changed since it was last
// painted, so that painting checks only these. A Canvas belongs to one goroutine at a
// time and to one Painter.
//
// Drawing outside the canvas is cut off. Drawing over one half of a wide character
// blanks the other half.
type Canvas struct {
	cols, rows int
	cells      []term.Cell
	dirty      []extent
	whole      []extent // per row: columns to draw as a whole if any of them changed
	blits      [][]blit // per row: lines that Frame copied there and nothing drew over
	cursor     term.Cursor
}

// extent is a range of columns, empty when hi <= lo.
type extent struct{ lo, hi int }

func (e extent) empty() bool { return e.hi <= e.lo }

// with returns the shortest extent that contains e and the columns lo to hi.
func (e extent) with(lo, hi int) extent {
	switch {
	case hi <= lo:
		return e
	case e.empty():
		return extent{lo, hi}
	}
	return extent{min(e.lo, lo), max(e.hi, hi)}
}

// blit is a line of a frame in a row of the canvas. It includes the offset and the
// screen, because the generations of different lines may be equal.
type blit struct {
	frame      *term.Frame
	from       int // the first column of the frame
	line       int
	offset     int
	alt        bool
	generation uint64
	x, w       int
}

// NewCanvas makes a blank canvas. Sizes below 1 become 1.
func NewCanvas(cols, rows int) *Canvas {
	c := new(Canvas)
	c.Resize(cols, rows)
	return c
}

// Resize gives the canvas a new size and blanks it. It does nothing if the canvas has
// that size.
func (c *Canvas) Resize(cols, rows int) {
	cols, rows = max(cols, 1), max(rows, 1)
	if cols == c.cols && rows == c.rows {
		return
	}
	c.cols, c.rows = cols, rows
	c.cells = make([]term.Cell, cols*rows)
	c.dirty = make([]extent, rows)
	c.whole = make([]extent, rows)
	c.blits = make([][]blit, rows)
	for i := range c.cells {
		c.cells[i] = blank
	}
	for y := range c.dirty {
		c.dirty[y] = extent{0, cols}
	}
	c.cursor = term.Cursor{}
}

// Size returns the size of the canvas in cells.
func (c *Canvas) Size() (cols, rows int) { return c.cols, c.rows }

// Cell returns the cell in column x of row y, or a blank cell outside the canvas.
func (c *Canvas) Cell(x, y int) term.Cell {
	if x < 0 || y < 0 || x >= c.cols || y >= c.rows {
		return blank
	}
	return c.cells[y*c.cols+x]
}

// SetCursor sets the position and look of the person's cursor. It hides a cursor outside
// the canvas.
func (c *Canvas) SetCursor(cur term.Cursor) {
	if cur.X < 0 || cur.Y < 0 || cur.X >= c.cols || cur.Y >= c.rows {
		cur.Visible = false
	}
	c.cursor = cur
}

// HideCursor hides the cursor.
func (c *Canvas) HideCursor() { c.cursor.Visible = false }

// Fill blanks a rectangle with the background and attributes of style.
func (c *Canvas) Fill(x, y, w, h int, style term.Style) {
	c.Repeat(x, y, w, h, term.Cell{Width: 1, Style: style})
}

// Repeat fills a rectangle with a cell that is one column wide.
func (c *Canvas) Repeat(x, y, w, h int, cell term.Cell) {
	x0, x1 := max(x, 0), min(x+w, c.cols)
	cell = tidy(cell)
	for row := max(y, 0); row < min(y+h, c.rows); row++ {
		c.split(x0, x1, row)
		for col := x0; col < x1; col++ {
			c.set(col, row, cell)
		}
	}
}

// Restyle replaces the style of each cell in a rectangle by what change returns for it,
// for example to show a selection.
func (c *Canvas) Restyle(x, y, w, h int, change func(term.Style) term.Style) {
	x0, x1 := max(x, 0), min(x+w, c.cols)
	for row := max(y, 0); row < min(y+h, c.rows); row++ {
		c.forget(x0, x1, row)
		for col := x0; col < x1; col++ {
			cell := c.cells[row*c.cols+col]
			cell.Style = change(cell.Style)
			c.set(col, row, tidy(cell))
		}
	}
}

// Redraw makes the next frame draw a rectangle's changed rows in one piece, instead of
// only the cells that differ. Call it before the rectangle shows something else. It costs
// little, and repairs a row that another program has written over. After it, a term.Frame
// that was shown there may be filled from another screen.
func (c *Canvas) Redraw(x, y, w, h int) {
	x0, x1 := max(x, 0), min(x+w, c.cols)
	for row := max(y, 0); row < min(y+h, c.rows); row++ {
		c.whole[row] = c.whole[row].with(x0, x1)
		c.forget(x0, x1, row)
	}
}

// split prepares row y for drawing over columns x0 to x1: it blanks wide characters
// that would lose one half, and drops the blits there.
func (c *Canvas) split(x0, x1, y int) {
	if x0 >= x1 {
		return
	}
	c.forget(x0, x1, y)
	row := c.cells[y*c.cols : (y+1)*c.cols]
	if x0 > 0 && row[x0].Width == 0 {
		c.forget(x0-1, x0, y)
		c.set(x0-1, y, tidy(term.Cell{Width: 1, Style: row[x0-1].Style}))
	}
	if x1 < c.cols && row[x1].Width == 0 {
		c.forget(x1, x1+1, y)
		c.set(x1, y, tidy(term.Cell{Width: 1, Style: row[x1].Style}))
	}
}

// forget drops the blits of row y that touch columns x0 to x1.
func (c *Canvas) forget(x0, x1, y int) {
	kept := c.blits[y][:0]
	for _, b := range c.blits[y] {
		if b.x >= x1 || b.x+b.w <= x0 {
			kept = append(kept, b)
		}
	}
	c.blits[y] = kept
}

// set changes one cell and marks it as changed.
func (c *Canvas) set(x, y int, cell term.Cell) {
	p := &c.cells[y*c.cols+x]
	if *p == cell {
		return
	}
	*p = cell
	c.dirty[y] = c.dirty[y].with(x, x+1)
}

// blank is an empty cell in the default style.
var blank = term.Cell{Width: 1}

// visibleBlank are the attributes that are visible on a cell without text.
const visibleBlank = term.Inverse | term.Strike | term.Overline

// tidy gives cells that look the same the same value: a space becomes a blank, and a
// blank keeps only the parts of its style that are visible.
func tidy(cell term.Cell) term.Cell {
	if cell.Rune == ' ' && cell.Marks == "" {
		cell.Rune = 0
	}
	if cell.Rune != 0 || cell.Width != 1 {
		return cell
	}
	cell.Marks = ""
	s := &cell.Style
	if s.Attr&visibleBlank == 0 && s.Underline == term.NoUnderline && s.Link == "" {
		s.FG, s.UnderlineColor, s.Attr = 0, 0, 0
	}
	return cell
}
