package term

// erase blanks columns x0 to x1-1 of a row with the pen's background. While erasing is
// selective, it keeps protected characters.
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

// eraseRows blanks whole rows. They no longer continue the row above them.
func (e *emulator) eraseRows(from, to int) {
	for y := from; y <= to; y++ {
		e.erase(y, 0, e.cols)
		e.rowStates()[y].continues = false
	}
}

// eraseLine is EL. A pending wrap stays pending, because there is nothing to erase to
// the right of the cursor.
func (e *emulator) eraseLine(which int) {
	switch which {
	case 0:
		e.erase(e.y, e.after(), e.cols)
		if e.x == 0 {
			e.rowStates()[e.y].continues = false
		}
	case 1:
		e.erase(e.y, 0, e.column()+1)
	case 2:
		e.eraseRows(e.y, e.y)
	}
}

// eraseDisplay is ED. With 3 it erases the scrollback and not the screen.
func (e *emulator) eraseDisplay(which int) {
	switch which {
	case 0:
		e.eraseLine(0)
		e.eraseRows(e.y+1, e.rows-1)
	case 1:
		e.eraseRows(0, e.y-1)
		e.erase(e.y, 0, e.column()+1)
		e.rowStates()[e.y].continues = false
		if e.column()+1 == e.cols && e.y+1 < e.rows {
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

// alignmentTest fills the screen with E and clears all margins (DECALN).
func (e *emulator) alignmentTest() {
	e.work += e.cols * e.rows
	fill := glyph{text: 'E', style: e.penStyle()}
	for y := range e.rows {
		e.grid.fill(0, e.cols, y, fill)
		e.rowStates()[y] = rowState{}
	}
	e.x, e.y = 0, 0
	e.clearMargins()
	e.damage.all()
}

// protected marks characters that selective erasing keeps (DECSCA). It is an attribute
// of the pen that SGR does not change and frames do not show. Only the emulator's
// glyphs have it, not Cells or lines of the scrollback.
const protected Attr = 1 << 15

// protect is DECSCA.
func (e *emulator) protect(on bool) {
	pen := e.pen
	pen.attr &^= protected
	if on {
		pen.attr |= protected
	}
	e.setPen(pen)
}

// eraseUnprotected blanks the unprotected characters of columns x0 to x1-1.
func (e *emulator) eraseUnprotected(y, x0, x1 int) {
	from := x0
	for x := x0; x <= x1; x++ {
		if x < x1 && e.styles.entries[e.grid.at(x, y).style].attr&protected == 0 {
			continue
		}
		e.eraseAll(y, from, x)
		from = x + 1
	}
}
