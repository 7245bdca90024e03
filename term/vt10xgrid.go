package term

import (
	"strconv"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

// vt10xGrid keeps cells inside terminals of hinshun/vt10x, one for each screen. It
// writes only sequences that vt10x handles well: absolute cursor positions, one scroll
// region, erase, insert, delete, scroll. It encodes a glyph's style number as a direct
// foreground color, and text that vt10x cannot store as a private-use code point.
type vt10xGrid struct {
	cols, rows int
	screens    [2]*vt10xScreen
	*vt10xScreen
}

// vt10xScreen is one terminal, and what is known of its state.
type vt10xScreen struct {
	terminal    vt10x.Terminal
	pending     []byte // not yet written to the terminal
	style       uint32
	styleKnown  bool
	x, y        int // the cursor; x is -1 when unknown
	top, bottom int
}

// How glyphs that are not plain code points are encoded.
const (
	vt10xStyleBase = 256      // added to style numbers, because lower colors are palette entries
	vt10xCluster   = 0xf0000  // plus the cluster's number
	vt10xSpace     = 0x10fffc // a space that a program wrote; a blank is ' '
	vt10xTail      = 0x10fffd // second half of a wide character
)

func newVT10xGrid(cols, rows int) *vt10xGrid {
	g := &vt10xGrid{}
	g.resize(cols, rows)
	return g
}

func (g *vt10xGrid) resize(cols, rows int) {
	shown := g.screens[1] != nil && g.vt10xScreen == g.screens[1]
	g.cols, g.rows = cols, rows
	g.screens = [2]*vt10xScreen{}
	g.show(shown)
}

func (g *vt10xGrid) show(alternate bool) {
	i := 0
	if alternate {
		i = 1
	}
	if g.screens[i] == nil {
		s := &vt10xScreen{
			terminal: vt10x.New(vt10x.WithSize(g.cols, g.rows)),
			x:        -1, bottom: g.rows - 1,
		}
		s.pending = append(s.pending, "\x1b[?7l"...) // the emulator wraps
		g.screens[i] = s
	}
	g.vt10xScreen = g.screens[i]
}

// flushSize is how many bytes are collected before they are written to the terminal.
const flushSize = 32 << 10

func (s *vt10xScreen) flush() {
	if len(s.pending) == 0 {
		return
	}
	// vt10x writes to its own memory and returns no error.
	_, _ = s.terminal.Write(s.pending)
	s.pending = s.pending[:0]
}

// sequence queues a control sequence.
func (s *vt10xScreen) sequence(final byte, params ...int) {
	s.pending = append(s.pending, "\x1b["...)
	for i, p := range params {
		if i > 0 {
			s.pending = append(s.pending, ';')
		}
		s.pending = strconv.AppendInt(s.pending, int64(p), 10)
	}
	s.pending = append(s.pending, final)
	if len(s.pending) > flushSize {
		s.flush()
	}
}

func (s *vt10xScreen) moveTo(x, y int) {
	if s.x == x && s.y == y {
		return
	}
	s.sequence('H', y+1, x+1)
	s.x, s.y = x, y
}

func (s *vt10xScreen) setStyle(style uint32) {
	if s.styleKnown && s.style == style {
		return
	}
	s.style, s.styleKnown = style, true
	if style == 0 {
		s.sequence('m', 39)
		return
	}
	v := int(style) + vt10xStyleBase
	s.sequence('m', 38, 2, v>>16&0xff, v>>8&0xff, v&0xff)
}

func (g *vt10xGrid) put(x, y int, glyphs []glyph) {
	g.moveTo(x, y)
	for _, glyph := range glyphs {
		g.setStyle(glyph.style)
		g.pending = utf8.AppendRune(g.pending, encode(glyph.text))
	}
	g.advance(len(glyphs))
}

func (g *vt10xGrid) putASCII(x, y int, text []byte, style uint32) {
	g.moveTo(x, y)
	g.setStyle(style)
	for _, b := range text {
		if b == ' ' {
			g.pending = utf8.AppendRune(g.pending, vt10xSpace)
		} else {
			g.pending = append(g.pending, b)
		}
	}
	g.advance(len(text))
}

// advance records where the cursor is after n glyphs.
func (g *vt10xGrid) advance(n int) {
	g.x += n
	if g.x >= g.cols {
		g.x = -1
	}
	if len(g.pending) > flushSize {
		g.flush()
	}
}

// encode returns the code point that represents a glyph's text in vt10x.
func encode(text uint32) rune {
	switch {
	case text&wideTail != 0:
		return vt10xTail
	case text&clusterRef != 0:
		return rune(vt10xCluster + text&textMask)
	case text == 0:
		return ' '
	case text == ' ':
		return vt10xSpace
	}
	return rune(text & textMask)
}

func (g *vt10xGrid) fill(x0, x1, y int, fill glyph) {
	if x0 >= x1 {
		return
	}
	g.moveTo(x0, y)
	g.setStyle(fill.style)
	switch {
	case fill.text == 0 && x1 == g.cols:
		g.sequence('K')
	case fill.text == 0:
		g.sequence('X', x1-x0)
	default:
		for range x1 - x0 {
			g.pending = utf8.AppendRune(g.pending, encode(fill.text))
		}
		g.advance(x1 - x0)
	}
}

func (g *vt10xGrid) scroll(top, bottom, n int, fill glyph) {
	if g.top != top || g.bottom != bottom {
		g.sequence('r', top+1, bottom+1)
		g.top, g.bottom = top, bottom
		g.x = -1
	}
	g.setStyle(fill.style)
	if n > 0 {
		g.sequence('S', n)
	} else {
		g.sequence('T', -n)
	}
}

func (g *vt10xGrid) insert(x, y, n int, fill glyph) {
	g.moveTo(x, y)
	g.setStyle(fill.style)
	g.sequence('@', n)
}

func (g *vt10xGrid) remove(x, y, n int, fill glyph) {
	g.moveTo(x, y)
	g.setStyle(fill.style)
	g.sequence('P', n)
}

func (g *vt10xGrid) at(x, y int) glyph {
	g.flush()
	cell := g.read(x, y)
	if cell.text&wideTail == 0 && x+1 < g.cols && g.terminal.Cell(x+1, y).Char == vt10xTail {
		cell.text |= wideLead
	}
	return cell
}

func (g *vt10xGrid) row(y int, buf []glyph) []glyph {
	g.flush()
	buf = buf[:0]
	for x := range g.cols {
		cell := g.read(x, y)
		if cell.text&wideTail != 0 && x > 0 {
			buf[x-1].text |= wideLead
		}
		buf = append(buf, cell)
	}
	return buf
}

// read returns a cell of the terminal as a glyph, without wideLead.
func (g *vt10xGrid) read(x, y int) glyph {
	cell := g.terminal.Cell(x, y)
	var out glyph
	if cell.FG >= vt10xStyleBase && cell.FG < vt10x.DefaultFG {
		out.style = uint32(cell.FG) - vt10xStyleBase
	}
	switch c := cell.Char; {
	case c == ' ' || c == 0:
	case c == vt10xSpace:
		out.text = ' '
	case c == vt10xTail:
		out.text = wideTail
	case c >= vt10xCluster:
		out.text = uint32(c-vt10xCluster) | clusterRef
	default:
		out.text = uint32(c)
	}
	return out
}
