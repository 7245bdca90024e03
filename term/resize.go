package term

// resize gives both screens a new size. When the width changes, it wraps the main screen
// and the scrollback again and keeps the cursor on its character. It only cuts or pads
// the alternate screen, because the program repaints it.
func (e *emulator) resize(cols, rows int) {
	if cols == e.cols && rows == e.rows {
		return
	}
	if e.narrow {
		e.unwrap()
	}
	alternate := e.alternateLines()
	e.grid.show(false)
	lines := e.mainLines()
	at := &place{x: e.x, y: e.y}
	if e.alt {
		at.x, at.y = e.saved[0].x, e.saved[0].y
	}
	settle := e.history.allowSurplus()
	lines = e.fitRows(lines, at, rows)
	if cols != e.cols {
		lines = e.rewrap(lines, at, cols, rows)
	}
	settle(e.history)

	oldRows := e.rows
	e.cols, e.rows = cols, rows
	e.grid.resize(cols, rows)
	e.meta = [2][]rowState{make([]rowState, rows), make([]rowState, rows)}
	e.grid.show(false)
	e.store(0, lines)
	at.x, at.y = min(at.x, cols-1), max(0, min(at.y, rows-1))
	if e.alt {
		e.saved[0].x, e.saved[0].y = at.x, at.y
		e.grid.show(true)
		gone := max(0, e.y-rows+1)
		if rows < oldRows {
			alternate = alternate[min(gone, len(alternate)):]
		}
		e.store(1, alternate)
		e.x, e.y = min(e.x, cols-1), max(0, min(e.y-gone, rows-1))
	} else {
		e.x, e.y = at.x, at.y
	}
	e.finishResize()
}

// finishResize updates the state that depends on the size.
func (e *emulator) finishResize() {
	e.clearMargins()
	e.altKept = false
	for i := range e.saved {
		e.saved[i].x = min(e.saved[i].x, e.cols-1)
		e.saved[i].y = min(e.saved[i].y, e.rows-1)
	}
	e.extendTabs()
	e.lastWidth = 0
	e.repeatable = 0
	e.damage.resize(e.rows)
	e.penKnown = false
	if e.modes.has(sizeReports) {
		e.reportSize()
	}
}

// place is a position that stays on its character during a resize.
type place struct{ x, y int }

// screenLine is a line during a resize.
type screenLine struct {
	cells []Cell
	state rowState
}

// mainLines returns the rows of the main screen.
func (e *emulator) mainLines() []screenLine {
	return e.lines(0)
}

// alternateLines returns the rows of the alternate screen if it is shown.
func (e *emulator) alternateLines() []screenLine {
	if !e.alt {
		return nil
	}
	return e.lines(1)
}

func (e *emulator) lines(screen int) []screenLine {
	lines := make([]screenLine, e.rows)
	for y := range lines {
		row := e.grid.row(y, e.run)
		cells := e.appendCells(nil, row)
		for i, g := range row {
			cells[i].Style.Attr |= e.styles.entries[g.style].attr & protected
		}
		lines[y] = screenLine{trimBlank(cells), e.meta[screen][y]}
	}
	return lines
}

// trimBlank removes trailing blanks in the default style.
func trimBlank(cells []Cell) []Cell {
	for len(cells) > 0 && cells[len(cells)-1] == (Cell{Width: 1}) {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// fitRows makes the number of lines equal to rows, before any wrapping. When there are
// too many, it drops rows below the cursor and then moves the top ones to the
// scrollback. A taller screen takes lines back from the scrollback if its bottom row is
// in use.
func (e *emulator) fitRows(lines []screenLine, at *place, rows int) []screenLine {
	for len(lines) > rows && len(lines) > at.y+1 {
		lines = lines[:len(lines)-1]
	}
	if extra := len(lines) - rows; extra > 0 {
		for _, l := range lines[:extra] {
			e.keepCells(l)
		}
		lines = lines[extra:]
		at.y -= extra
	}
	if missing := rows - len(lines); missing > 0 && at.y == len(lines)-1 {
		back := min(missing, e.history.own())
		taken := make([]screenLine, 0, rows)
		for i := e.history.count - back; i < e.history.count; i++ {
			packed := e.history.line(i)
			taken = append(taken, screenLine{unpack(nil, packed, e.widths), packedState(packed)})
		}
		e.history.dropNewest(back)
		lines = append(taken, lines...)
		at.y += back
	}
	for len(lines) < rows {
		lines = append(lines, screenLine{})
	}
	return lines
}

// keepCells moves a line to the scrollback.
func (e *emulator) keepCells(l screenLine) {
	if e.history.enabled() {
		e.history.addPacked(e.history.pack.cells(l.cells, l.state))
	}
}

// store writes lines to a screen of the new size; the grid must show that screen.
func (e *emulator) store(screen int, lines []screenLine) {
	for y, l := range lines {
		if y >= e.rows {
			break
		}
		wide := false
		e.run = e.run[:0]
		for i := range l.cells {
			if len(e.run) == e.cols {
				break
			}
			c := &l.cells[i]
			if c.Width == 2 {
				if len(e.run)+2 > e.cols {
					break
				}
				wide = true
			}
			e.run = append(e.run, e.glyph(c))
		}
		if len(e.run) > 0 {
			e.grid.put(0, y, e.run)
		}
		l.state.wide = wide
		e.meta[screen][y] = l.state
	}
}

// glyph returns a cell as a glyph, with numbers for its style and cluster.
func (e *emulator) glyph(c *Cell) glyph {
	var g glyph
	if c.Style != (Style{}) {
		a := attrs{
			fg: c.Style.FG, bg: c.Style.BG, underlineColor: c.Style.UnderlineColor,
			attr: c.Style.Attr, underline: c.Style.Underline,
		}
		if c.Style.Link != "" {
			a.link, _ = e.links.number([]byte(c.Style.Link))
		}
		g.style = e.styles.number(&a)
	}
	switch {
	case c.Width == 0:
		g.text = wideTail
		return g
	case c.Marks != "" || c.Rune >= firstReserved:
		n, ok := e.clusters.number(append([]byte(string(c.Rune)), c.Marks...))
		if ok {
			g.text = n | clusterRef
		} else {
			g.text = uint32(min(c.Rune, firstReserved-1))
		}
	default:
		g.text = uint32(c.Rune)
	}
	if c.Width == 2 {
		g.text |= wideLead
	}
	return g
}

// appendCells appends glyphs as Cells.
func (e *emulator) appendCells(dst []Cell, row []glyph) []Cell {
	style, number := Style{}, uint32(0)
	for _, g := range row {
		if g.style != number {
			number = g.style
			style = e.style(number)
		}
		c := Cell{Width: 1, Style: style}
		switch {
		case g.text < 1<<21:
			c.Rune = rune(g.text)
		case g.text&wideTail != 0:
			c.Width = 0
		default:
			if g.text&wideLead != 0 {
				c.Width = 2
			}
			c.Rune = rune(g.text & textMask)
			if g.text&clusterRef != 0 {
				c.Rune, c.Marks = splitCluster(e.clusters.text(g.text & textMask))
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// style returns the public form of a style number.
func (e *emulator) style(n uint32) Style {
	a := &e.styles.entries[n]
	return Style{
		FG: a.fg, BG: a.bg, UnderlineColor: a.underlineColor,
		Attr: a.attr &^ protected, Underline: a.underline, Link: e.links.text(a.link),
	}
}
