package term

// glyph is one column as a store keeps it: text and style, both small numbers.
// The zero glyph is a blank in the default style.
type glyph struct {
	text  uint32 // a code point, or a cluster's number, with the flags below; 0 is a blank
	style uint32 // number of the style in the screen's table
}

// Flags and parts of glyph.text.
const (
	textMask   = 1<<21 - 1 // the code point or cluster number
	wideLead   = 1 << 29   // first half of a wide character
	wideTail   = 1 << 30   // second half; holds nothing else
	clusterRef = 1 << 31   // textMask names a cluster, not a code point
)

// grid is a store of two screens of cells, main and alternate. It knows
// nothing of escape sequences, widths or cursors: the emulator decides what goes
// where and keeps every argument inside the screen. Coordinates are zero-based,
// ranges of columns half open, ranges of rows closed.
type grid interface {
	// put stores glyphs from column x on.
	put(x, y int, glyphs []glyph)
	// putASCII stores printable ASCII in one style.
	putASCII(x, y int, text []byte, style uint32)
	// fill sets columns x0 to x1-1.
	fill(x0, x1, y int, g glyph)
	// scroll moves rows top to bottom up by n, or down by -n, and fills the
	// rows that come free.
	scroll(top, bottom, n int, fill glyph)
	// insert shifts the row's columns from x on to the right by n.
	insert(x, y, n int, fill glyph)
	// remove shifts the row's columns after x+n left to x.
	remove(x, y, n int, fill glyph)
	// at is one glyph.
	at(x, y int) glyph
	// row is one row, possibly without its trailing blanks. It is valid until
	// the next call and must not be changed; buf may be used to build it.
	row(y int, buf []glyph) []glyph
	// show selects the screen that all other calls mean.
	show(alternate bool)
	// resize gives both screens a new size and blanks them.
	resize(cols, rows int)
}

// rowState is what the emulator remembers of a row beside its cells.
type rowState struct {
	continues bool // the row continues the one above it (soft wrap)
	wide      bool // the row may hold wide characters
	prompt    bool // a shell's prompt begins here (OSC 133)
}
