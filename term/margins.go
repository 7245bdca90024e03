package term

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
