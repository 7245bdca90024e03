package term

import (
	"encoding/binary"
	"unicode/utf8"
)

// A packed line is one line of scrollback as bytes that need no table to read:
//
//	flags, columns (uvarint), [length of runs (uvarint), runs], text
//
// Text is UTF-8, one character a cell. packedBlank introduces blanks; packedOther
// introduces a cell whose width does not follow from its first code point. Runs are
// (columns (uvarint), style) pairs from the left; the columns after the last run have
// the default style.
const (
	packedContinues = 1 << iota // the line continues the one before it
	packedPrompt                // a shell's prompt begins on it
	packedStyled                // runs follow
)

// Codes inside the text of a packed line.
const (
	packedBlank = 0x00 // followed by the number of blanks (uvarint)
	packedOther = 0x01 // followed by width, length (uvarint) and bytes of one cell
)

// Bits of the first byte of a packed style: two for each of the main colors, and flags
// for what follows.
const (
	packedForeground = 0 // shift of the foreground's kind: 0 none, 1 palette, 2 direct
	packedBackground = 2
	packedRest       = 1 << 4 // attributes, underline, underline color
	packedLink       = 1 << 5 // length (uvarint) and bytes of a link's target
	packedSameLink   = 1 << 6 // the link of the run before
)

// packer builds packed lines. It reuses its buffers.
type packer struct {
	out, text, runs []byte
	blanks          int // not yet written
	columns         int
	run             packedRun
	link            string // of the last run that had one
	widths          widths
}

// packedRun is a run of one style under construction.
type packedRun struct {
	columns int
	style   attrs
	link    string
}

func (p *packer) begin() {
	p.text, p.runs = p.text[:0], p.runs[:0]
	p.blanks, p.columns = 0, 0
	p.run = packedRun{}
	p.link = ""
}

// style extends the current run by columns, or starts another one.
func (p *packer) style(columns int, a attrs, link string) {
	a.link = 0
	a.attr &^= protected
	if a != p.run.style || link != p.run.link {
		p.flushBlanks()
		p.endRun()
		p.run.style, p.run.link = a, link
	}
	p.run.columns += columns
	p.columns += columns
}

func (p *packer) endRun() {
	if p.run.columns > 0 {
		p.runs = binary.AppendUvarint(p.runs, uint64(p.run.columns))
		p.runs = p.appendStyle(p.runs)
	}
	p.run.columns = 0
}

func (p *packer) appendStyle(dst []byte) []byte {
	a := &p.run.style
	kind := byte(a.fg>>24)<<packedForeground | byte(a.bg>>24)<<packedBackground
	rest := a.attr != 0 || a.underline != 0 || a.underlineColor != 0
	if rest {
		kind |= packedRest
	}
	switch p.run.link {
	case "":
	case p.link:
		kind |= packedSameLink
	default:
		kind |= packedLink
	}
	dst = append(dst, kind)
	dst = appendColor(dst, a.fg)
	dst = appendColor(dst, a.bg)
	if rest {
		dst = append(dst, byte(a.attr), byte(a.attr>>8)<<4|byte(a.underline), byte(a.underlineColor>>24))
		dst = appendColor(dst, a.underlineColor)
	}
	if kind&packedLink != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(p.run.link)))
		dst = append(dst, p.run.link...)
		p.link = p.run.link
	}
	return dst
}

func appendColor(dst []byte, c Color) []byte {
	switch c >> 24 {
	case 1:
		return append(dst, byte(c))
	case 2:
		return append(dst, byte(c>>16), byte(c>>8), byte(c))
	}
	return dst
}

// blank adds blank columns.
func (p *packer) blank(n int) { p.blanks += n }

func (p *packer) flushBlanks() {
	if p.blanks > 0 {
		p.text = append(p.text, packedBlank)
		p.text = binary.AppendUvarint(p.text, uint64(p.blanks))
		p.blanks = 0
	}
}

// rune adds a cell of one code point.
func (p *packer) rune(r rune, width int) {
	p.flushBlanks()
	if r < utf8.RuneSelf && width == 1 {
		p.text = append(p.text, byte(r))
		return
	}
	if p.widths.of(r) == width {
		if r >= 0x800 && r < 0x10000 {
			p.text = append(p.text, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		} else {
			p.text = utf8.AppendRune(p.text, r)
		}
		return
	}
	p.cell(string(r), width)
}

// cell adds a cell of any text.
func (p *packer) cell(text string, width int) {
	p.flushBlanks()
	p.text = append(p.text, packedOther, byte(width))
	p.text = binary.AppendUvarint(p.text, uint64(len(text)))
	p.text = append(p.text, text...)
}

// end returns the packed line, which is valid until the next begin. It drops trailing
// blanks in the default style.
func (p *packer) end(flags byte) []byte {
	if p.run.style == (attrs{}) && p.run.link == "" {
		p.columns -= p.blanks
	} else {
		p.endRun()
	}
	if len(p.runs) > 0 {
		flags |= packedStyled
	}
	p.out = append(p.out[:0], flags)
	p.out = binary.AppendUvarint(p.out, uint64(p.columns))
	if flags&packedStyled != 0 {
		p.out = binary.AppendUvarint(p.out, uint64(len(p.runs)))
		p.out = append(p.out, p.runs...)
	}
	p.out = append(p.out, p.text...)
	p.blanks = 0
	return p.out
}

// glyphs packs a row of the grid.
func (p *packer) glyphs(e *emulator, row []glyph, state rowState) []byte {
	p.begin()
	for len(row) > 0 {
		if style := row[0].style; style == 0 {
			p.style(0, attrs{}, "")
		} else {
			a := &e.styles.entries[style]
			p.style(0, *a, e.links.text(a.link))
		}
		n := p.glyphRun(e, row)
		p.run.columns += n
		p.columns += n
		row = row[n:]
	}
	return p.end(state.packedFlags())
}

// glyphRun adds the text of the glyphs at the start of the row that share the first
// one's style, and returns their number. Nearly all glyphs are ASCII or blank.
func (p *packer) glyphRun(e *emulator, row []glyph) int {
	style := row[0].style
	for i := 0; i < len(row); {
		g := row[i]
		switch {
		case g.style != style:
			return i
		case g.text-0x20 < 0x5f:
			p.flushBlanks()
			text := append(p.text, byte(g.text))
			rest := row[i+1:]
			n := 0
			for n < len(rest) && rest[n].style == style && rest[n].text-0x20 < 0x5f {
				text = append(text, byte(rest[n].text))
				n++
			}
			p.text = text
			i += 1 + n
		case g.text == 0:
			n := 1
			for i+n < len(row) && row[i+n] == g {
				n++
			}
			p.blanks += n
			i += n
		default:
			p.glyph(e, g.text)
			i++
		}
	}
	return len(row)
}

// glyph adds a cell that is neither ASCII nor blank.
func (p *packer) glyph(e *emulator, text uint32) {
	width := 1
	switch {
	case text&wideTail != 0:
		return
	case text&wideLead != 0:
		width = 2
	}
	if text&clusterRef != 0 {
		p.cell(e.clusters.text(text&textMask), width)
		return
	}
	p.rune(rune(text&textMask), width)
}

// cells packs a line of public cells.
func (p *packer) cells(line []Cell, state rowState) []byte {
	p.begin()
	for i := range line {
		c := &line[i]
		a := attrs{
			fg: c.Style.FG, bg: c.Style.BG, underlineColor: c.Style.UnderlineColor,
			attr: c.Style.Attr, underline: c.Style.Underline,
		}
		p.style(1, a, c.Style.Link)
		switch {
		case c.Width == 0:
		case c.Rune == 0:
			p.blank(1)
		case c.Marks != "":
			p.cell(string(c.Rune)+c.Marks, int(c.Width))
		default:
			p.rune(c.Rune, int(c.Width))
		}
	}
	return p.end(state.packedFlags())
}

func (s rowState) packedFlags() byte {
	var flags byte
	if s.continues {
		flags |= packedContinues
	}
	if s.prompt {
		flags |= packedPrompt
	}
	return flags
}
