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
