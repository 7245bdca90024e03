package term

// insertColumns shifts the row's cells from the cursor to the right margin right by n
// (ICH, and printing in insert mode).
func (e *emulator) insertColumns(n int, blank glyph) {
	e.unwrap()
	if e.inColumns() {
		e.insertAt(e.x, e.y, n, blank)
	}
}

// insertAt shifts the cells of row y from column x to the right margin right by n.
func (e *emulator) insertAt(x, y, n int, blank glyph) {
	n = min(n, e.right-x)
	e.splitWide(y, x, x, blank)
	e.splitWide(y, e.right-n, e.right, blank)
	if e.right == e.cols {
		e.grid.insert(x, y, n, blank)
	} else {
		e.copyCells(x, e.right-n, y, x+n, y)
		e.grid.fill(x, x+n, y, blank)
	}
	e.damage.row(y)
}

// deleteColumns deletes n cells at the cursor and shifts the cells up to the right
// margin left (DCH).
func (e *emulator) deleteColumns(n int) {
	e.unwrap()
	if e.inColumns() {
		e.deleteAt(e.x, e.y, n)
	}
}

// deleteAt shifts the cells of row y from column x+n to the right margin to column x.
func (e *emulator) deleteAt(x, y, n int) {
	n = min(n, e.right-x)
	blank := e.blank()
	e.splitWide(y, x, x+n, blank)
	if e.right == e.cols {
		e.grid.remove(x, y, n, blank)
	} else {
		e.splitWide(y, e.right, e.right, blank)
		e.copyCells(x+n, e.right, y, x, y)
		e.grid.fill(e.right-n, e.right, y, blank)
	}
	e.damage.row(y)
}

// shiftColumns inserts n columns at column x in all rows of the region, or deletes
// -n (DECIC and DECDC; SR and SL at the left margin). It does nothing if the cursor is
// outside the region.
func (e *emulator) shiftColumns(x, n int) {
	if !e.inRegion() {
		return
	}
	e.work += (e.bottom - e.top + 1) * e.cols
	for y := e.top; y <= e.bottom; y++ {
		if n > 0 {
			e.insertAt(x, y, n, e.blank())
		} else {
			e.deleteAt(x, y, -n)
		}
		e.rowStates()[y].continues = false
	}
}

// scrollColumns moves the columns between the margins, in the rows from top to bottom,
// up by n rows, or down by -n. n must not exceed the number of rows.
func (e *emulator) scrollColumns(top, bottom, n int) {
	e.work += (bottom - top + 1) * e.cols
	free := bottom + 1 - n // the first row to blank
	if n > 0 {
		for y := top; y < free; y++ {
			e.copyCells(e.left, e.right, y+n, e.left, y)
		}
	} else {
		free = top
		for y := bottom; y >= top-n; y-- {
			e.copyCells(e.left, e.right, y+n, e.left, y)
		}
	}
	for y := free; y < free+max(n, -n); y++ {
		e.eraseAll(y, e.left, e.right)
	}
	for y := top; y <= bottom; y++ {
		e.rowStates()[y].continues = false
	}
}

// copyCells copies columns x0 to x1-1 of row y to column x of row to. It blanks halves
// of wide characters at both ends of the copy and next to it.
func (e *emulator) copyCells(x0, x1, y, x, to int) {
	if x0 >= x1 {
		return
	}
	row := e.grid.row(y, e.run)
	cells := append(e.copied[:0], row[min(x0, len(row)):min(x1, len(row))]...)
	for len(cells) < x1-x0 {
		cells = append(cells, glyph{})
	}
	e.copied = cells
	if cells[0].text&wideTail != 0 {
		cells[0].text = 0
	}
	if last := &cells[len(cells)-1]; last.text&wideLead != 0 {
		last.text = 0
	}
	states := e.rowStates()
	e.splitWide(to, x, x+len(cells), glyph{})
	states[to].wide = states[to].wide || states[y].wide
	e.grid.put(x, to, cells)
	e.damage.row(to)
}

// indexForward is DECFI: it moves the cursor right. At the right margin it shifts the
// region's columns left instead.
func (e *emulator) indexForward() {
	e.unwrap()
	switch {
	case e.x != e.right-1:
		e.x = min(e.x+1, e.cols-1)
	default:
		e.shiftColumns(e.left, -1)
	}
}

// indexBackward is DECBI: it moves the cursor left. At the left margin it shifts the
// region's columns right instead.
func (e *emulator) indexBackward() {
	e.unwrap()
	switch {
	case e.x != e.left:
		e.x = max(e.x-1, 0)
	default:
		e.shiftColumns(e.left, 1)
	}
}
