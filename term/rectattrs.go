package term

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
