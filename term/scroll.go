package term

// scrollUp moves the scroll region up. Lines that leave the top of the main
// screen go to the scrollback.
func (e *emulator) scrollUp(n int) {
	n = min(n, e.bottom-e.top+1)
	if e.top == 0 && !e.alt && !e.narrow {
		for y := range n {
			e.keep(y)
		}
	}
	e.scrollRegion(e.top, e.bottom, n)
}

// keep copies row y to the scrollback.
func (e *emulator) keep(y int) {
	if !e.history.enabled() {
		return
	}
	row := e.grid.row(y, e.run)
	e.history.add(e, row, e.meta[0][y])
}

// scrollRegion moves the rows from top to bottom up by n, or down by -n. It adds nothing
// to the scrollback.
func (e *emulator) scrollRegion(top, bottom, n int) {
	height := bottom - top + 1
	n = max(-height, min(n, height))
	if n == 0 {
		return
	}
	if e.narrow {
		e.scrollColumns(top, bottom, n)
		return
	}
	e.work += max(n, -n) * e.cols
	e.grid.scroll(top, bottom, n, e.blank())
	region := e.rowStates()[top : bottom+1]
	if n > 0 {
		copy(region, region[n:])
		clear(region[height-n:])
	} else {
		copy(region[-n:], region)
		clear(region[:-n])
	}
	e.damage.span(top, bottom)
}

// index moves down one row and scrolls at the bottom of the region.
func (e *emulator) index() {
	e.unwrap()
	if e.y == e.bottom {
		if e.inColumns() {
			e.scrollUp(1)
		}
	} else if e.y < e.rows-1 {
		e.y++
		e.rowStates()[e.y].continues = false
	}
}

// reverseIndex moves up one row and scrolls at the top of the region.
func (e *emulator) reverseIndex() {
	e.unwrap()
	if e.y == e.top {
		if e.inColumns() {
			e.scrollRegion(e.top, e.bottom, -1)
		}
	} else if e.y > 0 {
		e.y--
	}
}

// shiftLines inserts n rows at the cursor, or deletes -n, within the scroll
// region (IL, DL).
func (e *emulator) shiftLines(n int) {
	e.unwrap()
	if !e.inRegion() {
		return
	}
	e.scrollRegion(e.y, e.bottom, -n)
	e.x = e.left
}

// edge returns the column at which printing wraps: the right margin, or the end of the
// row if the cursor is beyond the margin.
func (e *emulator) edge() int {
	if e.narrow && e.x < e.right {
		return e.right
	}
	return e.cols
}

// inColumns reports whether the cursor is between the left and the right margin.
func (e *emulator) inColumns() bool {
	x := e.column()
	return !e.narrow || x >= e.left && x < e.right
}

// inRegion reports whether the cursor is inside all four margins.
func (e *emulator) inRegion() bool {
	return e.y >= e.top && e.y <= e.bottom && e.inColumns()
}

// clearMargins makes the whole screen the region.
func (e *emulator) clearMargins() {
	e.top, e.bottom = 0, e.rows-1
	e.clearColumns()
}

func (e *emulator) clearColumns() {
	e.unwrap()
	e.left, e.right, e.narrow = 0, e.cols, false
}

// setRegion sets the region's rows (DECSTBM); top and bottom are one-based.
func (e *emulator) setRegion(top, bottom int) {
	if bottom == 0 || bottom > e.rows {
		bottom = e.rows
	}
	if top >= bottom {
		return
	}
	e.top, e.bottom = top-1, bottom-1
	e.moveTo(0, 0)
}

// setColumns sets the region's columns (DECSLRM); left and right are one-based.
func (e *emulator) setColumns(left, right int) {
	if right == 0 || right > e.cols {
		right = e.cols
	}
	if left >= right {
		return
	}
	e.left, e.right, e.narrow = left-1, right, right-left+1 < e.cols
	e.moveTo(0, 0)
}

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
