package term

// rect is a rectangle of cells inside the screen; right and bottom are exclusive.
type rect struct{ left, top, right, bottom int }

func (r rect) cols() int { return r.right - r.left }

// rectangle reads top, left, bottom and right from parameter i on. They count from the
// origin; missing ones mean the edge of the screen. In origin mode the rectangle ends at
// the margins. ok is false when no part of it is on the screen.
func (e *emulator) rectangle(i int) (r rect, ok bool) {
	bounds := e.rectBounds()
	r = rect{
		top:    bounds.top + e.number1(i) - 1,
		left:   bounds.left + e.number1(i+1) - 1,
		bottom: bounds.bottom,
		right:  bounds.right,
	}
	if n := e.param(i+2, 0); n > 0 {
		r.bottom = min(r.bottom, bounds.top+n)
	}
	if n := e.param(i+3, 0); n > 0 {
		r.right = min(r.right, bounds.left+n)
	}
	return r, r.top < r.bottom && r.left < r.right
}

// rectBounds returns the area in which rectangles may be.
func (e *emulator) rectBounds() rect {
	if e.modes.has(originMode) {
		return rect{left: e.left, top: e.top, right: e.right, bottom: e.bottom + 1}
	}
	return rect{right: e.cols, bottom: e.rows}
}

// copyRectangle is DECCRA. It ignores the page numbers, because there is only one page.
func (e *emulator) copyRectangle() {
	from, ok := e.rectangle(0)
	bounds := e.rectBounds()
	x, y := bounds.left+e.number1(6)-1, bounds.top+e.number1(5)-1
	if !ok || x >= bounds.right || y >= bounds.bottom {
		return
	}
	from.right = min(from.right, from.left+bounds.right-x)
	rows := min(from.bottom-from.top, bounds.bottom-y)
	e.work += rows * from.cols()
	for i := range rows {
		if y > from.top { // start at the bottom, so that no row is overwritten before it is copied
			i = rows - 1 - i
		}
		e.copyCells(from.left, from.right, from.top+i, x, y+i)
	}
}

// fillRectangle is DECFRA: it fills a rectangle with one printable character of one
// column, in the pen's style.
func (e *emulator) fillRectangle() {
	char := e.param(0, ' ')
	r, ok := e.rectangle(1)
	if !ok || char < ' ' || char > 0xff || char >= 0x7f && char < 0xa0 {
		return
	}
	e.work += r.cols() * (r.bottom - r.top)
	fill := glyph{text: uint32(char), style: e.penStyle()}
	for y := r.top; y < r.bottom; y++ {
		e.splitWide(y, r.left, r.right, glyph{})
		e.grid.fill(r.left, r.right, y, fill)
		e.damage.row(y)
	}
}

// eraseRectangle is DECERA or, with sparing, DECSERA, which spares protected characters.
func (e *emulator) eraseRectangle(sparing bool) {
	r, ok := e.rectangle(0)
	if !ok {
		return
	}
	e.sparing = sparing && !e.guarded
	for y := r.top; y < r.bottom; y++ {
		e.erase(y, r.left, r.right)
	}
	e.sparing = false
}

// answerChecksum answers DECRQCRA: the sum of the characters in a rectangle, negated as
// in DEC's terminals. Blanks count as spaces, and attributes do not count. This reveals
// nothing to a program, because it wrote everything on its screen itself.
func (e *emulator) answerChecksum() {
	r, ok := e.rectangle(2)
	if !ok {
		r = rect{}
	}
	e.work += r.cols() * (r.bottom - r.top)
	sum := uint16(0)
	for y := r.top; y < r.bottom; y++ {
		row := e.grid.row(y, e.run)
		for x := r.left; x < r.right; x++ {
			if x >= len(row) {
				sum += ' '
				continue
			}
			sum += e.checksum(row[x])
		}
	}
	e.answer("\x1bP%d!~%04X\x1b\\", e.param(0, 0), -sum)
}

// checksum returns the value that a glyph adds to the sum.
func (e *emulator) checksum(g glyph) (sum uint16) {
	if g.text == 0 {
		return ' '
	}
	text, _ := e.text(g)
	for _, r := range text {
		sum += uint16(r)
	}
	return sum
}

// changeRectangle changes the attributes of the characters in a rectangle: it sets them
// (DECCARA) or, with toggle, inverts them (DECRARA). After DECSACE 2 the area is the
// rectangle; otherwise it is the stream of characters from the rectangle's first
// position to its last, row by row.
func (e *emulator) changeRectangle(toggle bool) {
	r, ok := e.rectangle(0)
	exact := e.extent == 2
	if !ok && (exact || r.top >= r.bottom-1) {
		return
	}
	bounds := e.rectBounds()
	for y := r.top; y < r.bottom; y++ {
		x0, x1 := r.left, r.right
		if !exact && y > r.top {
			x0 = bounds.left
		}
		if !exact && y < r.bottom-1 {
			x1 = bounds.right
		}
		e.changeRow(y, x0, x1, toggle)
	}
	if e.styles.full() {
		e.sweep()
	}
}

// changeRow changes the attributes of columns x0 to x1-1.
func (e *emulator) changeRow(y, x0, x1 int, toggle bool) {
	if x0 >= x1 {
		return
	}
	e.work += x1 - x0
	row := e.grid.row(y, e.run)
	cells := append(e.copied[:0], row[min(x0, len(row)):min(x1, len(row))]...)
	for len(cells) < x1-x0 { // blanks get attributes as well
		cells = append(cells, glyph{})
	}
	e.copied = cells
	known, changed := ^uint32(0), uint32(0)
	for i, g := range cells {
		if g.style != known {
			a := e.styles.entries[g.style]
			a.change(e.params[min(4, e.count):e.count], toggle)
			known, changed = g.style, e.styles.number(&a)
		}
		cells[i].style = changed
	}
	e.grid.put(x0, y, cells)
	e.damage.row(y)
}

// change applies the parameters of DECCARA or, with toggle, of DECRARA. No parameters
// mean 0.
func (a *attrs) change(params []int32, toggle bool) {
	if len(params) == 0 {
		params = []int32{0}
	}
	for _, n := range params {
		switch n {
		case 1, 4, 5, 7:
			if toggle {
				a.toggle(int(n))
			} else {
				a.turnOn(int(n))
			}
		case 22, 24, 25, 27:
			if !toggle {
				a.turnOff(int(n))
			}
		case 0, -1:
			for _, n := range []int{1, 4, 5, 7} {
				if toggle {
					a.toggle(n)
				} else {
					a.turnOff(n + 20)
				}
			}
		}
	}
}

// toggle inverts the attribute that SGR n turns on.
func (a *attrs) toggle(n int) {
	switch {
	case n != 4:
		a.attr ^= sgrAttrs[n]
	case a.underline == NoUnderline:
		a.underline = SingleUnderline
	default:
		a.underline = NoUnderline
	}
}
