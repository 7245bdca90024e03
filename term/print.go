package term

import "bytes"

// printASCII prints a run of printable ASCII at the cursor.
func (e *emulator) printASCII(p []byte) {
	if e.insert || e.singleShift != 0 || e.charsets[e.shift] != 'B' {
		for _, b := range p {
			e.printRune(rune(b))
		}
		return
	}
	style := e.penStyle()
	for len(p) > 0 {
		if e.x >= e.cols {
			if e.modes.has(autoWrap) {
				e.wrap()
			} else {
				e.unwrap()
				p = p[len(p)-1:]
			}
		}
		edge := e.edge()
		n := min(edge-e.x, len(p))
		e.damage.row(e.y)
		if e.rowStates()[e.y].wide {
			e.splitWide(e.y, e.x, e.x+n, glyph{style: style})
		}
		e.grid.putASCII(e.x, e.y, p[:n], style)
		e.advance(n, edge)
		p = p[n:]
	}
	e.lastWidth = 1
}

// printRune prints one character at the cursor.
func (e *emulator) printRune(r rune) {
	if r < 0x7f && (e.singleShift != 0 || e.charsets[e.shift] != 'B') {
		r = e.translate(r)
	}
	width := e.widths.of(r)
	if width == 0 || e.modes.has(graphemeClusters) && r >= 0x300 {
		if e.lastWidth > 0 && e.join(r, width) {
			return
		}
		if width == 0 {
			e.joinLeft(r)
			return
		}
	}
	if r < firstReserved {
		e.place(uint32(r), width)
		return
	}
	e.place(e.reserved(r), width)
	if e.clusters.full() {
		e.sweep()
	}
}

// place puts a character of the given width at the cursor and moves the cursor.
func (e *emulator) place(text uint32, width int) {
	style := e.penStyle()
	edge := e.edge()
	if e.x+width > edge {
		if !e.modes.has(autoWrap) {
			e.unwrap()
			if width == 2 {
				return
			}
		} else {
			if e.x < edge { // a wide character does not fit into the last column
				e.setBlank(e.y, e.x, edge, style)
			}
			e.wrap()
		}
		edge = e.edge()
		if e.x+width > edge {
			return
		}
	}
	if e.insert {
		e.insertColumns(width, glyph{style: style})
	}
	e.damage.row(e.y)
	state := &e.rowStates()[e.y]
	if state.wide {
		e.splitWide(e.y, e.x, e.x+width, glyph{style: style})
	}
	if width == 2 {
		state.wide = true
		pair := [2]glyph{{text | wideLead, style}, {wideTail, style}}
		e.run = append(e.run[:0], pair[:]...)
	} else {
		e.run = append(e.run[:0], glyph{text, style})
	}
	e.grid.put(e.x, e.y, e.run)
	e.advance(width, edge)
	e.lastWidth = width
}

// placeRun puts glyphs that fit before edge at the cursor and moves the cursor.
func (e *emulator) placeRun(run []glyph, wide bool, edge int) {
	state := &e.rowStates()[e.y]
	if state.wide {
		e.splitWide(e.y, e.x, e.x+len(run), glyph{style: run[0].style})
	}
	if wide {
		state.wide = true
	}
	e.damage.row(e.y)
	e.grid.put(e.x, e.y, run)
	e.advance(len(run), edge)
}

// wrap moves to the start of the next row. That row continues this one unless margins
// exclude some columns.
func (e *emulator) wrap() {
	if e.y == e.bottom {
		if e.inColumns() {
			e.scrollUp(1)
		}
	} else if e.y < e.rows-1 {
		e.y++
	}
	e.x = e.left
	e.rowStates()[e.y].continues = !e.narrow
}

// splitWide blanks wide characters that are only half inside columns x0 to x1-1 of a
// row, so that changing these columns leaves no half character.
func (e *emulator) splitWide(y, x0, x1 int, blank glyph) {
	if !e.rowStates()[y].wide {
		return
	}
	if x0 > 0 && x0 < e.cols && e.grid.at(x0, y).text&wideTail != 0 {
		e.grid.fill(x0-1, x0+1, y, blank)
	}
	if x1 > 0 && x1 < e.cols && e.grid.at(x1, y).text&wideTail != 0 {
		e.grid.fill(x1-1, x1+1, y, blank)
	}
}

// setBlank blanks columns in a style and leaves no half of a wide character.
func (e *emulator) setBlank(y, x0, x1 int, style uint32) {
	blank := glyph{style: style}
	e.splitWide(y, x0, x1, blank)
	e.grid.fill(x0, x1, y, blank)
	e.damage.row(y)
}

// REP may repeat a character as often as the screen has cells, and on small screens
// minRepeats times.
const minRepeats = 1 << 12

// repeatLast prints the last character n more times (REP).
func (e *emulator) repeatLast(n int) {
	x := e.after() - e.repeatable
	if e.repeatable == 0 || x < 0 {
		return
	}
	g := e.grid.at(x, e.y)
	text, width := e.text(g)
	n = min(n, max(e.cols*e.rows, minRepeats))
	e.work += n
	switch len(text) {
	case 0:
	case 1:
		e.repeatASCII(text[0], n)
	default:
		for range n {
			e.place(g.text&^wideLead, width)
		}
	}
}

// repeatASCII prints a character n times without translating it to the charset in use.
func (e *emulator) repeatASCII(b byte, n int) {
	line := bytes.Repeat([]byte{b}, min(n, e.cols))
	saved, shift := e.charsets, e.singleShift
	e.charsets, e.singleShift = asciiCharsets, 0
	for ; n > 0; n -= len(line) {
		e.printASCII(line[:min(n, len(line))])
	}
	e.charsets, e.singleShift = saved, shift
}
