package paint

import (
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// pen is the terminal's current style, in colors that it can show.
type pen struct {
	fg, bg, line term.Color // line is the underline's color
	attr         term.Attr
	underline    term.Underline
	link         string
}

// pen returns the style in colors that the terminal can show.
func (o Options) pen(s term.Style) pen {
	t := pen{
		fg:        o.Colors.Color(s.FG),
		bg:        o.Colors.Color(s.BG),
		attr:      s.Attr,
		underline: s.Underline,
		link:      s.Link,
	}
	if t.fg == term.PaletteColor(0) && t.fg != s.FG {
		t.attr &^= term.Bold // the black is a replacement, and many terminals show bold black as gray
	}
	if t.underline != term.NoUnderline {
		t.line = o.Colors.Color(s.UnderlineColor)
	}
	if t.link != "" && !safeLink(t.link) {
		t.link = ""
	}
	return t
}

// style changes the terminal's style to that of cell. For a blank it keeps a style that
// looks the same on it, so that words of one style form one run.
func (p *Painter) style(cell term.Cell) {
	if p.styled && cell.Style == p.last {
		return
	}
	want := p.opts.pen(cell.Style)
	if cell.Rune == 0 && want.plain() && p.pen.plain() && want.bg == p.pen.bg {
		return
	}
	p.setPen(want)
	p.last, p.styled = cell.Style, true
}

// plain reports whether only the pen's background is visible on a blank.
func (t pen) plain() bool {
	return t.attr&visibleBlank == 0 && t.underline == term.NoUnderline && t.link == ""
}

// setPen changes the terminal's style in the shorter of two ways: only the changes, or a
// reset and everything that is not default.
func (p *Painter) setPen(want pen) {
	p.styled = false
	if p.pen == want {
		return
	}
	if p.pen.link != want.link {
		p.buf = append(p.buf, "\x1b]8;;"...)
		p.buf = append(p.buf, want.link...)
		p.buf = append(p.buf, "\x1b\\"...)
		p.pen.link = want.link
		if p.pen == want {
			return
		}
	}
	p.reset = appendChange(append(p.reset[:0], "\x1b["...), pen{link: want.link}, want)
	p.sgr = append(p.sgr[:0], "\x1b["...)
	p.sgr = appendChange(p.sgr, p.pen, want)
	if extra := len(p.reset) - 2; extra == 0 { // everything is default
		p.buf = append(p.buf, "\x1b[m"...)
	} else if len(p.sgr) <= len(p.reset)+2 {
		p.buf = append(append(p.buf, p.sgr[:len(p.sgr)-1]...), 'm')
	} else {
		p.buf = append(p.buf, "\x1b[0;"...)
		p.buf = append(append(p.buf, p.reset[2:len(p.reset)-1]...), 'm')
	}
	p.pen = want
}

// attrCodes are the SGR codes that set and clear each attribute.
var attrCodes = [...]struct {
	attr    term.Attr
	on, off string
}{
	{term.Bold, "1;", "22;"},
	{term.Dim, "2;", "22;"},
	{term.Italic, "3;", "23;"},
	{term.Blink, "5;", "25;"},
	{term.Inverse, "7;", "27;"},
	{term.Hidden, "8;", "28;"},
	{term.Strike, "9;", "29;"},
	{term.Overline, "53;", "55;"},
}

// appendChange appends the SGR parameters that change one style to another, each
// followed by a semicolon.
func appendChange(dst []byte, from, to pen) []byte {
	if off := from.attr &^ to.attr; off&(term.Bold|term.Dim) != 0 {
		from.attr &^= term.Bold | term.Dim // one code clears both
		dst = append(dst, "22;"...)
	}
	for _, a := range attrCodes {
		switch {
		case from.attr&^to.attr&a.attr != 0:
			dst = append(dst, a.off...)
		case to.attr&^from.attr&a.attr != 0:
			dst = append(dst, a.on...)
		}
	}
	if from.underline != to.underline {
		dst = appendUnderline(dst, to.underline)
	}
	if from.fg != to.fg {
		dst = appendColor(dst, to.fg, 30)
	}
	if from.bg != to.bg {
		dst = appendColor(dst, to.bg, 40)
	}
	if from.line != to.line {
		dst = appendLineColor(dst, to.line)
	}
	return dst
}

func appendUnderline(dst []byte, u term.Underline) []byte {
	switch u {
	case term.NoUnderline:
		return append(dst, "24;"...)
	case term.SingleUnderline:
		return append(dst, "4;"...)
	}
	return append(dst, '4', ':', '0'+byte(u), ';')
}

// appendColor appends a foreground (base 30) or background (base 40) color.
func appendColor(dst []byte, c term.Color, base int64) []byte {
	if n, ok := c.Palette(); ok {
		switch {
		case n < 8:
			dst = strconv.AppendInt(dst, base+int64(n), 10)
		case n < 16:
			dst = strconv.AppendInt(dst, base+60+int64(n-8), 10)
		default:
			dst = strconv.AppendInt(dst, base+8, 10)
			dst = append(dst, ";5;"...)
			dst = strconv.AppendInt(dst, int64(n), 10)
		}
		return append(dst, ';')
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return append(strconv.AppendInt(dst, base+9, 10), ';')
	}
	dst = strconv.AppendInt(dst, base+8, 10)
	for _, v := range [...]uint8{2, r, g, b} {
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ';')
}

// appendLineColor appends an underline color in the form with colons, because a terminal
// that does not know it then skips it as one parameter.
func appendLineColor(dst []byte, c term.Color) []byte {
	if n, ok := c.Palette(); ok {
		dst = append(dst, "58:5:"...)
		dst = strconv.AppendInt(dst, int64(n), 10)
		return append(dst, ';')
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return append(dst, "59;"...)
	}
	dst = append(dst, "58:2:"...)
	for _, v := range [...]uint8{r, g, b} {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ';')
}

// maxLink is the length of the longest link target that is passed on. Terminals have the
// same limit.
const maxLink = 2083

// safeLink reports whether a program's link target may be passed to the person's
// terminal. It must be printable ASCII, which cannot end the sequence, and its scheme
// must open a web page or an e-mail, not a file or a program of the host.
func safeLink(target string) bool {
	if len(target) > maxLink {
		return false
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] >= 0x7f {
			return false
		}
	}
	scheme, _, ok := strings.Cut(target, ":")
	if !ok {
		return false
	}
	for _, allowed := range [...]string{"https", "http", "mailto"} {
		if strings.EqualFold(scheme, allowed) {
			return true
		}
	}
	return false
}
