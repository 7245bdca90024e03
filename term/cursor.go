package term

// column returns the cursor's column, also while a wrap is pending.
func (e *emulator) column() int {
	if e.x < e.cols {
		return e.x
	}
	return e.due
}

// after returns the column after the character just printed.
func (e *emulator) after() int {
	if e.x < e.cols {
		return e.x
	}
	return e.due + 1
}

// unwrap cancels a pending wrap: the cursor is on the last column again.
func (e *emulator) unwrap() {
	if e.x >= e.cols {
		e.x = e.due
	}
}

// advance moves the cursor over n columns that were printed before edge.
func (e *emulator) advance(n, edge int) {
	x := e.x + n
	if x >= edge {
		x, e.due = e.cols, edge-1
	}
	e.x = x
}

// moveTo places the cursor. In origin mode x and y count from the region's corner.
func (e *emulator) moveTo(x, y int) {
	if e.modes.has(originMode) {
		e.moveToColumn(x)
		e.moveToRow(y)
		return
	}
	e.x = max(0, min(x, e.cols-1))
	e.y = max(0, min(y, e.rows-1))
}

func (e *emulator) moveToColumn(x int) {
	if e.modes.has(originMode) {
		e.x = max(e.left, min(x+e.left, e.right-1))
		return
	}
	e.x = max(0, min(x, e.cols-1))
}

func (e *emulator) moveToRow(y int) {
	e.unwrap()
	if e.modes.has(originMode) {
		e.y = max(e.top, min(y+e.top, e.bottom))
		return
	}
	e.y = max(0, min(y, e.rows-1))
}

// origin returns the corner from which positions count.
func (e *emulator) origin() (x, y int) {
	if e.modes.has(originMode) {
		return e.left, e.top
	}
	return 0, 0
}

// up moves the cursor up. From inside the region it stops at the region's top.
func (e *emulator) up(n int) {
	e.unwrap()
	limit := 0
	if e.y >= e.top {
		limit = e.top
	}
	e.y = max(e.y-n, limit)
}

// down moves the cursor down. From inside the region it stops at the region's bottom.
func (e *emulator) down(n int) {
	e.unwrap()
	limit := e.rows - 1
	if e.y <= e.bottom {
		limit = e.bottom
	}
	e.y = min(e.y+n, limit)
}

// backward moves the cursor left. From inside the margins it stops at the left margin.
func (e *emulator) backward(n int) {
	e.unwrap()
	e.x = max(e.x-n, e.startOfRow())
}

// forward moves the cursor right. From inside the margins it stops at the right margin.
func (e *emulator) forward(n int) {
	e.unwrap()
	e.x = min(e.x+n, e.edge()-1)
}

// startOfRow returns the leftmost column that the cursor can move to: the left margin,
// or 0 if the cursor is left of it.
func (e *emulator) startOfRow() int {
	if e.column() >= e.left {
		return e.left
	}
	return 0
}

// carriageReturn is CR.
func (e *emulator) carriageReturn() {
	x := 0
	if e.left > 0 && (e.modes.has(originMode) || e.column() >= e.left) {
		x = e.left
	}
	e.x = x
}

// saveCursor is DECSC.
func (e *emulator) saveCursor() {
	e.saved[e.screenIndex()] = savedCursor{
		x: e.column(), y: e.y, pen: e.pen,
		charsets: e.charsets, shift: e.shift, origin: e.modes.has(originMode),
	}
}

// restoreCursor is DECRC. Without a saved cursor, the cursor moves to the upper left
// corner.
func (e *emulator) restoreCursor() {
	s := e.saved[e.screenIndex()]
	e.x, e.y = min(s.x, e.cols-1), min(s.y, e.rows-1)
	e.charsets, e.shift = s.charsets, s.shift
	e.modes.set(originMode, s.origin)
	e.setPen(s.pen)
}

// extendTabs sets a tab stop in every eighth of the columns that are new.
func (e *emulator) extendTabs() {
	for x := len(e.tabs); x < e.cols; x++ {
		e.tabs = append(e.tabs, x > 0 && x%8 == 0)
	}
	e.tabs = e.tabs[:e.cols]
}

// tab moves forward n tab stops, at most to the right margin. A pending wrap stays
// pending, except in mode 41, where tab wraps first.
func (e *emulator) tab(n int) {
	if e.x >= e.cols && e.modes.has(tabWraps) {
		e.wrap()
	}
	last := e.edge() - 1
	for ; n > 0 && e.x < last; n-- {
		for e.x++; e.x < last && !e.tabs[e.x]; e.x++ {
		}
	}
}

// backTab moves back n tab stops.
func (e *emulator) backTab(n int) {
	e.unwrap()
	for ; n > 0 && e.x > 0; n-- {
		for e.x--; e.x > 0 && !e.tabs[e.x]; e.x-- {
		}
	}
}

// clearTabs is TBC.
func (e *emulator) clearTabs(which int) {
	switch which {
	case 0:
		e.tabs[e.column()] = false
	case 3:
		clear(e.tabs)
	}
}

// back moves the cursor left by n (BS, CUB). With reverse wraparound it continues from
// the left margin to the right margin of the row above.
func (e *emulator) back(n int) {
	if !e.modes.has(autoWrap) || !e.modes.has(reverseWrap) {
		e.backward(n)
		return
	}
	n = min(n, e.cols*e.rows)
	e.work += n
	if e.x >= e.cols { // the first step cancels the pending wrap
		e.unwrap()
		n--
	}
	for n > 0 {
		if step := min(n, e.x-e.startOfRow()); step > 0 {
			e.x -= step
			n -= step
			continue
		}
		e.backToRowAbove()
		n--
	}
}

// backToRowAbove moves from the start of a row to the end of the row above, and from the
// top row to the bottom row, as xterm did before version 380.
func (e *emulator) backToRowAbove() {
	top, bottom := 0, e.rows-1
	if e.y >= e.top && e.y <= e.bottom {
		top, bottom = e.top, e.bottom
	}
	if e.y--; e.y < top {
		e.y = bottom
	}
	e.x = e.right - 1
}
