package term

// Color is a cell color: zero is the terminal's default, PaletteColor(n) one of the 256
// palette entries, RGB(r, g, b) a direct color. A palette entry differs from a direct
// color with the same value.
type Color uint32

const (
	colorPalette Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// PaletteColor returns entry n of the 256-color palette.
func PaletteColor(n uint8) Color { return colorPalette | Color(n) }

// RGB returns a direct color.
func RGB(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Palette returns the palette index, and whether c is a palette color.
func (c Color) Palette() (uint8, bool) { return uint8(c), c>>24 == 1 }

// RGB returns the components, and whether c is a direct color.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// Attr is a set of cell attributes.
type Attr uint16

// The attributes a cell may carry. Underline styles are in Style.Underline.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Blink
	Inverse
	Hidden
	Strike
	Overline
)

// Underline is the style of a cell's underline; NoUnderline means none.
type Underline uint8

// The underline styles of SGR 4:n.
const (
	NoUnderline Underline = iota
	SingleUnderline
	DoubleUnderline
	CurlyUnderline
	DottedUnderline
	DashedUnderline
)

// Style is everything about a cell except its text. It is comparable.
type Style struct {
	FG, BG         Color
	UnderlineColor Color
	Attr           Attr
	Underline      Underline
	Link           string // target of an OSC 8 hyperlink, or empty
}

// Cell is one column of one line. A wide character takes two cells: the first
// holds the text and width 2, the second is empty with width 0. A blank cell has
// rune 0 and width 1.
type Cell struct {
	Rune  rune   // first code point; 0 for blank cells and second halves
	Marks string // the rest of the grapheme cluster, usually empty
	Width uint8
	Style Style
}
