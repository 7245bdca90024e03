package term

// nativeGrid keeps each screen as one flat array of glyphs. An index gives the place of
// each row, so that scrolling moves index entries and not cells.
type nativeGrid struct {
	cols, rows int
	screens    [2]nativeScreen
	*nativeScreen
}

// nativeScreen is one of the two screens.
type nativeScreen struct {
	cells []glyph // rows of cols glyphs each, by place
	index []int32 // the place of each row in cells
	used  []int32 // by place: the glyphs from this column on are zero
	spare []int32 // scratch for rotating the index
}

func newNativeGrid(cols, rows int) *nativeGrid {
	g := &nativeGrid{}
	g.resize(cols, rows)
	return g
}

func (g *nativeGrid) resize(cols, rows int) {
	shown := g.nativeScreen == &g.screens[1]
	g.cols, g.rows = cols, rows
	g.screens = [2]nativeScreen{}
	g.show(shown)
}

// show selects a screen. The alternate screen takes memory only from its first use on.
func (g *nativeGrid) show(alternate bool) {
	g.nativeScreen = &g.screens[0]
	if alternate {
		g.nativeScreen = &g.screens[1]
	}
	s := g.nativeScreen
	if s.cells != nil {
		return
	}
	s.cells = make([]glyph, g.cols*g.rows)
	s.index = make([]int32, g.rows)
	s.used = make([]int32, g.rows)
	s.spare = make([]int32, g.rows)
	for y := range s.index {
		s.index[y] = int32(y)
	}
}

// line returns a whole row.
func (g *nativeGrid) line(y int) []glyph {
	at := int(g.index[y]) * g.cols
	return g.cells[at : at+g.cols : at+g.cols]
}

// touch records that the columns of a row up to x may be in use.
func (g *nativeGrid) touch(y, x int) {
	if u := &g.used[g.index[y]]; int(*u) < x {
		*u = int32(x)
	}
}

func (g *nativeGrid) put(x, y int, glyphs []glyph) {
	copy(g.line(y)[x:], glyphs)
	g.touch(y, x+len(glyphs))
}

func (g *nativeGrid) putASCII(x, y int, text []byte, style uint32) {
	row := g.line(y)[x:]
	row = row[:len(text)]
	for i, b := range text {
		row[i] = glyph{uint32(b), style}
	}
	g.touch(y, x+len(text))
}

func (g *nativeGrid) fill(x0, x1, y int, fill glyph) {
	place := g.index[y]
	used := int(g.used[place])
	if fill == (glyph{}) {
		if x0 < used {
			clear(g.line(y)[x0:min(x1, used)])
			if x1 >= used {
				g.used[place] = int32(x0)
			}
		}
		return
	}
	row := g.line(y)[x0:x1]
	for i := range row {
		row[i] = fill
	}
	g.touch(y, x1)
}

func (g *nativeGrid) scroll(top, bottom, n int, fill glyph) {
	height := bottom - top + 1
	up := n > 0
	if !up {
		n = -n
	}
	n = min(n, height)
	freed := top
	if !up {
		freed = bottom + 1 - n
	}
	for y := freed; y < freed+n; y++ {
		g.fill(0, g.cols, y, fill)
	}
	region := g.index[top : bottom+1]
	if up {
		rotateLeft(region, n, g.spare)
	} else {
		rotateLeft(region, height-n, g.spare)
	}
}

// rotateLeft moves the first n elements of s to its end.
func rotateLeft[T any](s []T, n int, spare []T) {
	if n == 0 || n == len(s) {
		return
	}
	copy(spare, s[:n])
	copy(s, s[n:])
	copy(s[len(s)-n:], spare[:n])
}

func (g *nativeGrid) insert(x, y, n int, fill glyph) {
	row := g.line(y)
	copy(row[x+n:], row[x:])
	g.used[g.index[y]] = int32(g.cols)
	g.fill(x, x+n, y, fill)
}

func (g *nativeGrid) remove(x, y, n int, fill glyph) {
	row := g.line(y)
	copy(row[x:], row[x+n:])
	g.used[g.index[y]] = int32(g.cols)
	g.fill(g.cols-n, g.cols, y, fill)
}

func (g *nativeGrid) at(x, y int) glyph { return g.line(y)[x] }

func (g *nativeGrid) row(y int, _ []glyph) []glyph {
	return g.line(y)[:g.used[g.index[y]]]
}
