package paint

import (
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// text writes a cell's text and reports whether all terminals agree on its width.
func (p *Painter) text(cell term.Cell) (sure bool) {
	r := cell.Rune
	if r < 0x7f && r > 0x20 && cell.Marks == "" {
		p.buf = append(p.buf, byte(r))
		return true
	}
	if !showable(r) {
		r = utf8.RuneError
	}
	if cell.Marks == "" {
		p.buf = utf8.AppendRune(p.buf, r)
		if cell.Width == 2 {
			return eastAsianWide(r)
		}
		return narrow(r)
	}
	if cell.Width == 2 { // blank both columns, in case the terminal draws only one
		p.buf = append(p.buf, "\x1b[2X"...)
	}
	p.buf = utf8.AppendRune(p.buf, r)
	p.marks(cell.Marks)
	return false
}

const joiner = '\u200d'

// marks writes the marks after the first character of a cell. It leaves out a joiner at
// the end, because it would join the next cell.
func (p *Painter) marks(marks string) {
	for i, r := range marks {
		if r == joiner && (!p.clusters.Load() || i+len(string(joiner)) == len(marks)) {
			return
		}
		if joinable(r) {
			p.buf = utf8.AppendRune(p.buf, r)
		}
	}
}

// eastAsianWide reports whether r is in a script that all terminals show in two columns.
func eastAsianWide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f ||
		r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xff01 && r <= 0xff60 ||
		r >= 0x20000 && r <= 0x3fffd
}

// narrow reports whether r is in a block that all terminals show in one column: Latin to
// Cyrillic, punctuation, box drawing, blocks and braille.
func narrow(r rune) bool {
	return r < 0x0300 || r >= 0x0370 && r < 0x0483 || r >= 0x2010 && r < 0x2028 || r >= 0x2030 && r < 0x2060 ||
		r >= 0x2190 && r < 0x231a || r >= 0x2500 && r < 0x25fd || r >= 0x2800 && r < 0x2900
}

// showable reports whether r may be the first code point of a cell: not a
// control, a bidirectional or other format character, or a line separator.
func showable(r rune) bool {
	switch {
	case r < 0x7f:
		return r >= 0x20
	case r < 0xa0, r == 0xad, r == 0x061c, r == 0xfeff:
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return false
	case r >= 0xd800 && r <= 0xdfff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000:
		return r >= 0xf0000 && r <= utf8.MaxRune // private use
	}
	return true
}

// joinable reports whether r may follow the first code point of a cell.
func joinable(r rune) bool {
	switch {
	case r == 0x200c, r == 0x200d, r >= 0xe0020 && r <= 0xe007f, r >= 0xe0100 && r <= 0xe01ef:
		return true // joiners, flag tags, variation selectors
	}
	return r >= 0x80 && showable(r)
}
