package term

// unwrap takes the cursor back onto the last column when a wrap was due.
func (e *emulator) unwrap() { e.x = min(e.x, e.cols-1) }

// moveTo places the cursor; rows count from the region's top in origin mode.
func (e *emulator) moveTo(x, y int) {
	e.x = max(0, min(x, e.cols-1))
	e.moveToRow(y)
}

func (e *emulator) moveToRow(y int) {
	e.unwrap()
	if e.modes.has(originMode) {
		e.y = max(e.top, min(y+e.top, e.bottom))
		return
	}
	e.y = max(0, min(y, e.rows-1))
}

// up moves the cursor, but not over the top of the region from inside it.
func (e *emulator) up(n int) {
	e.unwrap()
	limit := 0
	if e.y >= e.top {
		limit = e.top
	}
	e.y = max(e.y-n, limit)
}

// down moves the cursor, but not over the bottom of the region from inside it.
func (e *emulator) down(n int) {
	e.unwrap()
	limit := e.rows - 1
	if e.y <= e.bottom {
		limit = e.bottom
	}
	e.y = min(e.y+n, limit)
}

func (e *emulator) left(n int) {
	e.unwrap()
	e.x = max(e.x-n, 0)
}

// backspace is BS. In mode 45 it goes from the start of a row back to the end of
// the one that it continues.
func (e *emulator) backspace() {
	switch {
	case !e.modes.has(reverseWrap):
		e.left(1)
	case e.x > 0:
		e.x--
	case e.y > e.top && e.y <= e.bottom && e.rowStates()[e.y].continues:
		e.rowStates()[e.y].continues = false
		e.y--
		e.x = e.cols - 1
		if e.x > 0 && e.grid.at(e.x, e.y).text == 0 { // a wide character did not fit there
			e.x--
		}
	}
}

func (e *emulator) right(n int) {
	e.unwrap()
	e.x = min(e.x+n, e.cols-1)
}

// saveCursor is DECSC.
func (e *emulator) saveCursor() {
	e.saved[e.screenIndex()] = savedCursor{
		x: min(e.x, e.cols-1), y: e.y, pen: e.pen,
		charsets: e.charsets, shift: e.shift, origin: e.modes.has(originMode),
	}
}

// restoreCursor is DECRC; without a saved cursor it goes home.
func (e *emulator) restoreCursor() {
	s := e.saved[e.screenIndex()]
	e.x, e.y = min(s.x, e.cols-1), min(s.y, e.rows-1)
	e.charsets, e.shift = s.charsets, s.shift
	e.modes.set(originMode, s.origin)
	e.setPen(s.pen)
}

// extendTabs gives columns that have none a tab stop every eight.
func (e *emulator) extendTabs() {
	for x := len(e.tabs); x < e.cols; x++ {
		e.tabs = append(e.tabs, x > 0 && x%8 == 0)
	}
	e.tabs = e.tabs[:e.cols]
}

// tab moves forward n tab stops; a due wrap stays due.
func (e *emulator) tab(n int) {
	for ; n > 0 && e.x < e.cols-1; n-- {
		for e.x++; e.x < e.cols-1 && !e.tabs[e.x]; e.x++ {
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
		e.tabs[min(e.x, e.cols-1)] = false
	case 3:
		clear(e.tabs)
	}
}
