package term

import (
	"encoding/binary"
	"errors"
	"unicode"
	"unicode/utf8"
)

// packedState returns the row state in a packed line.
func packedState(line []byte) rowState {
	return rowState{continues: line[0]&packedContinues != 0, prompt: line[0]&packedPrompt != 0}
}

// packedColumns returns how many columns a packed line fills.
func packedColumns(line []byte) int {
	n, _ := binary.Uvarint(line[1:])
	return int(n)
}

// packedParts splits a packed line into its columns, runs and text.
func packedParts(line []byte) (columns int, runs, text []byte) {
	flags := line[0]
	n, size := binary.Uvarint(line[1:])
	text = line[1+size:]
	if flags&packedStyled != 0 {
		length, size := binary.Uvarint(text)
		runs = text[size : size+int(length)]
		text = text[size+int(length):]
	}
	return int(n), runs, text
}

// unpack appends the cells of a packed line.
func unpack(dst []Cell, line []byte, w widths) []Cell {
	columns, runs, text := packedParts(line)
	start := len(dst)
	for len(text) > 0 {
		switch text[0] {
		case packedBlank:
			n, size := binary.Uvarint(text[1:])
			for range n {
				dst = append(dst, Cell{Width: 1})
			}
			text = text[1+size:]
		case packedOther:
			width := int(text[1])
			n, size := binary.Uvarint(text[2:])
			at := 2 + size
			dst = appendCell(dst, string(text[at:at+int(n)]), width)
			text = text[at+int(n):]
		default:
			r, size := utf8.DecodeRune(text)
			width := w.of(r)
			dst = append(dst, Cell{Rune: r, Width: uint8(width)})
			if width == 2 {
				dst = append(dst, Cell{})
			}
			text = text[size:]
		}
	}
	for len(dst)-start < columns {
		dst = append(dst, Cell{Width: 1})
	}
	unpackStyles(dst[start:], runs)
	return dst
}

// appendCell appends a cell of any text, with its second half.
func appendCell(dst []Cell, text string, width int) []Cell {
	r, size := utf8.DecodeRuneInString(text)
	dst = append(dst, Cell{Rune: r, Marks: text[size:], Width: uint8(width)})
	if width == 2 {
		dst = append(dst, Cell{})
	}
	return dst
}

// unpackStyles gives cells the styles of packed runs.
func unpackStyles(cells []Cell, runs []byte) {
	var link string
	for len(runs) > 0 && len(cells) > 0 {
		n, size := binary.Uvarint(runs)
		runs = runs[size:]
		var style Style
		style, runs = unpackStyle(runs, &link)
		n = min(n, uint64(len(cells)))
		for i := range cells[:n] {
			cells[i].Style = style
		}
		cells = cells[n:]
	}
}

// unpackStyle reads one style. link is the link of the last run that had one.
func unpackStyle(p []byte, link *string) (Style, []byte) {
	var s Style
	kind := p[0]
	s.FG, p = readColor(p[1:], kind>>packedForeground&3)
	s.BG, p = readColor(p, kind>>packedBackground&3)
	if kind&packedRest != 0 {
		s.Attr = Attr(p[0]) | Attr(p[1]>>4)<<8
		s.Underline = Underline(p[1] & 0xf)
		s.UnderlineColor, p = readColor(p[3:], p[2])
	}
	if kind&packedLink != 0 {
		n, size := binary.Uvarint(p)
		*link = string(p[size : size+int(n)])
		p = p[size+int(n):]
	}
	if kind&(packedLink|packedSameLink) != 0 {
		s.Link = *link
	}
	return s, p
}

func readColor(p []byte, kind byte) (Color, []byte) {
	switch kind {
	case 1:
		return PaletteColor(p[0]), p[1:]
	case 2:
		return RGB(p[0], p[1], p[2]), p[3:]
	}
	return 0, p
}

// archive is a saved screen on its way to bytes or back. Its methods save a value, or
// load it in place, so that one list of fields serves both. A value out of its bounds is
// an error in both directions, and after an error the methods do nothing.
type archive struct {
	loading bool
	data    []byte // saved so far, or not yet loaded
	err     error
}

var errDamaged = errors.New("load screen: the saved screen is damaged")

// fail marks the saved screen as damaged.
func (a *archive) fail() {
	a.err = errDamaged
	a.data = nil
}

// check calls fail unless ok.
func (a *archive) check(ok bool) {
	if !ok {
		a.fail()
	}
}

// integer is a kind of number in the emulator's state.
type integer interface {
	~int | ~int32 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// archiveInt saves or loads a number from low to high.
func archiveInt[T integer](a *archive, v *T, low, high T) {
	if !a.loading && *v >= low && *v <= high {
		a.data = binary.AppendUvarint(a.data, uint64(*v-low))
		return
	}
	n, size := binary.Uvarint(a.data)
	if !a.loading || size <= 0 || n > uint64(high-low) {
		a.fail()
		return
	}
	a.data = a.data[size:]
	*v = low + T(n)
}

// archiveList saves the length of a list, or loads the length and makes the list. most bounds
// the length; least is the smallest size of a saved element in bytes.
func archiveList[T any](a *archive, list *[]T, least, most int) {
	n := len(*list)
	if a.loading {
		most = min(most, len(a.data)/least)
	}
	archiveInt(a, &n, 0, most)
	if a.loading && a.err == nil {
		*list = make([]T, n)
	}
}

func (a *archive) flag(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	archiveInt(a, &n, 0, 1)
	if a.loading {
		*v = n == 1
	}
}

func (a *archive) color(c *Color) {
	archiveInt(a, c, 0, colorRGB|0xffffff)
	a.check(c.valid())
}

// valid reports whether c is a color that the functions of this package make.
func (c Color) valid() bool {
	switch c >> 24 {
	case 0:
		return c == 0
	case 1:
		return c <= colorPalette|0xff
	}
	return c>>24 == 2
}

// bytes saves or loads up to most bytes. What it loads is a part of the saved screen.
func (a *archive) bytes(v *[]byte, most int) {
	n := len(*v)
	archiveInt(a, &n, 0, most)
	switch {
	case a.err != nil:
	case !a.loading:
		a.data = append(a.data, *v...)
	case n > len(a.data):
		a.fail()
	default:
		*v = a.data[:n:n]
		a.data = a.data[n:]
	}
}

// text saves or loads a string without control characters.
func (a *archive) text(v *string, most int) {
	b := []byte(*v)
	a.bytes(&b, most)
	a.check(printable(b))
	if a.loading && a.err == nil {
		*v = string(b)
	}
}

// printable reports whether b is text without control characters.
func printable(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 || unicode.IsControl(r) {
			return false
		}
		b = b[size:]
	}
	return true
}
