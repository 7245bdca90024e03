package term

// glyph is one column of a grid: text and style, both as small numbers. The zero glyph
// is a blank in the default style.
type glyph struct {
	text  uint32 // a code point, or a cluster's number, with the flags below; 0 is a blank
	style uint32 // number of the style in the screen's table
}

// Flags and parts of glyph.text.
const (
	textMask   = 1<<21 - 1 // the code point or cluster number
	wideLead   = 1 << 29   // first half of a wide character
	wideTail   = 1 << 30   // second half; no other bit is set
	clusterRef = 1 << 31   // the textMask bits are a cluster number, not a code point
)

// grid stores two screens of cells, main and alternate. It knows nothing about escape
// sequences, widths or cursors. The emulator computes all positions and keeps every
// argument inside the screen. Coordinates are zero-based, ranges of columns half-open,
// ranges of rows closed.
type grid interface {
	// put stores glyphs from column x on.
	put(x, y int, glyphs []glyph)
	// putASCII stores printable ASCII in one style.
	putASCII(x, y int, text []byte, style uint32)
	// fill sets columns x0 to x1-1.
	fill(x0, x1, y int, g glyph)
	// scroll moves rows top to bottom up by n, or down by -n, and fills the rows that
	// become free.
	scroll(top, bottom, n int, fill glyph)
	// insert shifts the row's columns from x on to the right by n.
	insert(x, y, n int, fill glyph)
	// remove deletes n columns from x on and shifts the rest of the row left.
	remove(x, y, n int, fill glyph)
	// at returns one glyph.
	at(x, y int) glyph
	// row returns one row, possibly without its trailing blanks. It is valid until
	// the next call and must not be changed. The grid may use buf to build it.
	row(y int, buf []glyph) []glyph
	// show selects the screen that all other calls apply to.
	show(alternate bool)
	// resize gives both screens a new size and blanks them.
	resize(cols, rows int)
}

// rowState is what the emulator knows about a row besides its cells.
type rowState struct {
	continues bool // the row continues the one above it (soft wrap)
	wide      bool // the row may hold wide characters
	prompt    bool // a shell's prompt begins here (OSC 133)
}

// damage collects the rows that changed since the last take.
type damage struct {
	rows     []bool
	any      bool
	from, to int // one range of rows that changed as well; empty when from > to
}

func (d *damage) resize(rows int) {
	d.rows = make([]bool, rows)
	d.all()
}

// row marks one row.
func (d *damage) row(y int) {
	d.rows[y] = true
	d.any = true
}

// span marks the rows from to to, both inclusive.
func (d *damage) span(from, to int) {
	d.any = true
	d.from = min(d.from, from)
	d.to = max(d.to, to)
}

func (d *damage) all() { d.span(0, len(d.rows)-1) }

// take calls changed for every marked row and forgets the marks.
func (d *damage) take(changed func(y int)) {
	if !d.any {
		return
	}
	for y, marked := range d.rows {
		if marked || y >= d.from && y <= d.to {
			d.rows[y] = false
			changed(y)
		}
	}
	d.any = false
	d.from, d.to = len(d.rows), -1
}
