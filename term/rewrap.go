package term

import "unicode/utf8"

// rewrap wraps scrollback and screen to another width and returns the lines of the new
// screen. Scrollback lines that were not wrapped and need not be are copied without
// unpacking.
func (e *emulator) rewrap(lines []screenLine, at *place, cols, rows int) []screenLine {
	old := e.history
	e.history = newHistory(old.max)
	e.history.dropped, e.history.surplus = old.dropped, old.surplus
	e.history.lines = make([]packedLine, len(old.lines))
	w := rewrapper{from: e.cols, to: cols}
	for i := range old.count {
		if i == old.kept {
			e.history.kept = e.history.count
		}
		packed := old.line(i)
		next := lines[0].state.continues
		if i+1 < old.count {
			next = packedState(old.line(i + 1)).continues
		}
		if !next && !w.begun && packedColumns(packed) <= cols {
			e.history.addPacked(packed)
			continue
		}
		w.buffer = unpack(w.buffer[:0], packed, e.widths)
		w.add(screenLine{w.buffer, packedState(packed)}, next)
		if next {
			w.spill(e.keepCells)
		} else {
			w.flush(e.keepCells)
		}
	}
	if old.own() == 0 {
		e.history.kept = e.history.count
	}
	// A line that began in the scrollback may continue on the screen.
	var out []screenLine
	emit := func(l screenLine) {
		l.cells = append([]Cell(nil), l.cells...)
		out = append(out, l)
	}
	cursor := *at
	for y, l := range lines {
		w.fill(l)
		if y == cursor.y {
			w.mark(cursor.x)
		}
		w.add(l, y+1 < len(lines) && lines[y+1].state.continues)
		if w.open {
			continue
		}
		first, marked := len(out), w.marked
		w.flush(emit)
		if marked {
			at.x, at.y = w.markX, first+w.markY
		}
	}
	return e.placeScreen(out, at, rows, old.own() > 0)
}

// placeScreen chooses the lines of the new screen: the last ones, including the cursor's
// line. It moves the lines above them to the scrollback.
func (e *emulator) placeScreen(out []screenLine, at *place, rows int, scrolled bool) []screenLine {
	if !scrolled {
		// A screen that has not scrolled yet keeps its first line at the top.
		for len(out) > rows && len(out) > at.y+1 && len(out[len(out)-1].cells) == 0 {
			out = out[:len(out)-1]
		}
	}
	top := max(0, min(len(out)-rows, at.y))
	for _, l := range out[:top] {
		e.keepCells(l)
	}
	at.y -= top
	out = out[top:]
	if missing := rows - len(out); missing > 0 && scrolled {
		var moved int
		out, moved = e.takeBack(out, missing)
		at.y += moved
	}
	return out
}

// takeBack moves up to n lines of the scrollback to the front of lines.
func (e *emulator) takeBack(lines []screenLine, n int) ([]screenLine, int) {
	n = min(n, e.history.own())
	taken := make([]screenLine, 0, n+len(lines))
	for i := e.history.count - n; i < e.history.count; i++ {
		packed := e.history.line(i)
		taken = append(taken, screenLine{unpack(nil, packed, e.widths), packedState(packed)})
	}
	e.history.dropNewest(n)
	return append(taken, lines...), n
}

// rewrapper joins the lines that continue each other and cuts them to the new width.
type rewrapper struct {
	from, to int // widths
	cells    []Cell
	state    rowState // of the first row to cut
	begun    bool     // a line was added since the last flush
	joined   bool     // another line that continues it was added as well
	open     bool     // the next line continues the last one
	length   int      // of the last line added
	buffer   []Cell   // scratch

	marked       bool // the cursor is in this line, at cell markAt
	markAt       int
	markX, markY int // the cursor's new position
}

// fill pads the cells added so far to a full row before next, a line that continues it.
// A wrapped row is full, except for its last column if a wide character did not fit
// there.
func (w *rewrapper) fill(next screenLine) {
	if !w.begun {
		return
	}
	full := w.from
	if len(next.cells) > 0 && next.cells[0].Width == 2 {
		full--
		if n := len(w.cells); w.length > full && empty(w.cells[n-1]) {
			w.cells = w.cells[:n-1]
			w.length--
		}
	}
	for ; w.length < full; w.length++ {
		w.cells = append(w.cells, Cell{Width: 1})
	}
}

// mark records that the cursor is at column x of the line that is added next.
func (w *rewrapper) mark(x int) {
	w.marked = true
	w.markAt = len(w.cells) + x
}

// add appends a line; more says that another one continues it.
func (w *rewrapper) add(l screenLine, more bool) {
	w.fill(l)
	if !w.begun {
		w.state = l.state
		w.begun = true
	} else {
		w.joined = true
	}
	w.cells = append(w.cells, l.cells...)
	w.length = len(l.cells)
	w.open = more
}

// maxUncut is how many cells are collected before rows are cut off. Without it, a line
// that never ends would be unpacked into memory as a whole.
const maxUncut = 1 << 14

// spill cuts off full rows when many cells are collected.
func (w *rewrapper) spill(emit func(screenLine)) {
	if len(w.cells) < maxUncut {
		return
	}
	if w.to == 1 {
		w.cells = narrow(w.cells)
	}
	rest := w.cells
	for len(rest) > 2*w.to {
		n := cutAt(rest, w.to)
		emit(screenLine{rest[:n], w.state})
		w.state = rowState{continues: true}
		rest = rest[n:]
	}
	w.cells = w.cells[:copy(w.cells, rest)]
}

// flush cuts the line to the new width and emits its rows.
func (w *rewrapper) flush(emit func(screenLine)) {
	if w.to == 1 {
		w.cells = narrow(w.cells)
	}
	w.trim()
	rest, state := w.cells, w.state
	w.markX, w.markY = w.markAt, 0
	for offset, row := 0, 0; ; row++ {
		n := cutAt(rest, w.to)
		if w.marked && w.markAt >= offset && (w.markAt < offset+n || n == len(rest)) {
			w.markX, w.markY = w.markAt-offset, row
		}
		emit(screenLine{rest[:n], state})
		offset += n
		rest = rest[n:]
		if len(rest) == 0 {
			break
		}
		state = rowState{continues: true}
	}
	w.markX = min(w.markX, w.to-1) // the cursor may be right of the text
	w.cells = w.cells[:0]
	w.begun, w.joined, w.marked, w.open = false, false, false, false
}

// trim removes the colored blanks after the text that erasing or scrolling left, because
// they must not wrap. A line that stays one row keeps them.
func (w *rewrapper) trim() {
	text := len(w.cells)
	for text > 0 && empty(w.cells[text-1]) {
		text--
	}
	switch {
	case w.joined || text > w.to:
		w.cells = w.cells[:text]
	case len(w.cells) > w.to:
		w.cells = w.cells[:w.to]
	}
}

// empty reports that nothing was printed into the cell.
func empty(c Cell) bool { return c.Rune == 0 && c.Width == 1 }

// narrow replaces wide characters by blanks, for a screen of a single column.
func narrow(cells []Cell) []Cell {
	kept := cells[:0]
	for _, c := range cells {
		if c.Width == 2 {
			c = Cell{Width: 1, Style: c.Style}
		}
		if c.Width == 1 {
			kept = append(kept, c)
		}
	}
	return kept
}

// cutAt returns how many cells fit into a row without cutting a wide character.
func cutAt(cells []Cell, cols int) int {
	if len(cells) <= cols {
		return len(cells)
	}
	if cols > 1 && cells[cols].Width == 0 {
		return cols - 1
	}
	return cols
}

// splitCluster splits a cluster into Cell's Rune and Marks.
func splitCluster(text string) (rune, string) {
	r, size := utf8.DecodeRuneInString(text)
	return r, text[size:]
}
