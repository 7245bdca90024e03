package term

// erase blanks columns x0 to x1-1 of a row with the pen's background, or those
// of them that nothing protects while erasing is selective.
func (e *emulator) erase(y, x0, x1 int) {
	e.work += x1 - x0
	if e.sparing {
		e.eraseUnprotected(y, x0, x1)
		return
	}
	e.eraseAll(y, x0, x1)
}

func (e *emulator) eraseAll(y, x0, x1 int) {
	if x0 >= x1 {
		return
	}
	blank := e.blank()
	e.splitWide(y, x0, x1, blank)
	e.grid.fill(x0, x1, y, blank)
	if x0 == 0 {
		state := &e.rowStates()[y]
		if x1 == e.cols {
			*state = rowState{continues: state.continues}
		}
	}
	e.damage.row(y)
}

// eraseRows blanks whole rows, which then continue nothing.
func (e *emulator) eraseRows(from, to int) {
	for y := from; y <= to; y++ {
		e.erase(y, 0, e.cols)
		e.rowStates()[y].continues = false
	}
}

// eraseLine is EL. A wrap that is due stays due: there is nothing right of the
// cursor to erase.
func (e *emulator) eraseLine(which int) {
	switch which {
	case 0:
		e.erase(e.y, e.x, e.cols)
		if e.x == 0 {
			e.rowStates()[e.y].continues = false
		}
	case 1:
		e.erase(e.y, 0, min(e.x+1, e.cols))
	case 2:
		e.eraseRows(e.y, e.y)
	}
}

// eraseDisplay is ED; 3 erases the scrollback and leaves the screen.
func (e *emulator) eraseDisplay(which int) {
	switch which {
	case 0:
		e.eraseLine(0)
		e.eraseRows(e.y+1, e.rows-1)
	case 1:
		e.eraseRows(0, e.y-1)
		e.erase(e.y, 0, min(e.x+1, e.cols))
		e.rowStates()[e.y].continues = false
		if e.x+1 >= e.cols && e.y+1 < e.rows {
			e.rowStates()[e.y+1].continues = false
		}
	case 2:
		e.eraseRows(0, e.rows-1)
	case 3:
		if !e.alt {
			e.history.clear()
		}
	}
}

// eraseColumns is ECH.
func (e *emulator) eraseColumns(n int) {
	e.unwrap()
	e.erase(e.y, e.x, min(e.x+n, e.cols))
}

// insertColumns shifts the rest of the row right (ICH, and printing in insert
// mode).
func (e *emulator) insertColumns(n int, blank glyph) {
	e.unwrap()
	e.insertAt(e.x, e.y, n, blank)
}

// insertAt shifts what is right of column x in row y to the right by n.
func (e *emulator) insertAt(x, y, n int, blank glyph) {
	n = min(n, e.cols-x)
	e.splitWide(y, x, x, blank)
	e.splitWide(y, e.cols-n, e.cols-n, blank)
	e.grid.insert(x, y, n, blank)
	e.damage.row(y)
}

// deleteColumns shifts what is right of the cursor over it (DCH).
func (e *emulator) deleteColumns(n int) {
	e.unwrap()
	e.deleteAt(e.x, e.y, n)
}

// deleteAt shifts what is right of column x+n in row y to column x.
func (e *emulator) deleteAt(x, y, n int) {
	n = min(n, e.cols-x)
	blank := e.blank()
	e.splitWide(y, x, x+n, blank)
	e.grid.remove(x, y, n, blank)
	e.damage.row(y)
}

// shiftColumns inserts n columns at column x in all rows of the scroll region, or
// deletes -n (DECIC and DECDC; SR and SL at the first column). The cursor has to
// be in the region.
func (e *emulator) shiftColumns(x, n int) {
	if e.y < e.top || e.y > e.bottom {
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

// alignmentTest fills the screen with E and makes all of it the scroll region (DECALN).
func (e *emulator) alignmentTest() {
	e.work += e.cols * e.rows
	fill := glyph{text: 'E', style: e.penStyle()}
	for y := range e.rows {
		e.grid.fill(0, e.cols, y, fill)
		e.rowStates()[y] = rowState{}
	}
	e.x, e.y = 0, 0
	e.top, e.bottom = 0, e.rows-1
	e.damage.all()
}
