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
