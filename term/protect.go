package term

// protected marks characters that selective erasing leaves (DECSCA). It is an attribute
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
