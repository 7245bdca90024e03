package view

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// style is a set of attributes of a glyph.
type style uint8

const (
	strong style = 1 << iota
	slanted
	code
	linked
	muted
	bad
	alert
)

// codes are the SGR parameters of each attribute, with colors and without. The terminal's background
// is unknown, so only an attribute that sets a background has a color.
var codes = [7][2]string{
	{";1", ";1"},
	{";3", ";3"},
	{";1", ";1"},
	{";4", ";4"},
	{";2", ";2"},
	{";1", ";1"},
	{";1;38;5;16;48;5;220", ";7"},
}

// glyph is one character of a row, one or two columns wide.
type glyph struct {
	r     rune
	s     style
	parts string // the rest of the cluster, such as combining marks
}

// row is a line of the screen that is not wider than the screen.
type row = []glyph

// own makes glyphs of our own text.
func own(s string, st style) row {
	out := make(row, 0, len(s))
	for len(s) > 0 {
		n := 1
		if s[0] >= utf8.RuneSelf || len(s) > 1 && s[1] >= utf8.RuneSelf {
			c, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
			n = len(c)
		}
		out = append(out, glyphOf(s[:n], st))
		s = s[n:]
	}
	return out
}

// glyphOf makes a glyph of one character.
func glyphOf(cluster string, st style) glyph {
	r, n := utf8.DecodeRuneInString(cluster)
	return glyph{r, st, cluster[n:]}
}

// drawable makes glyphs of an untrusted name or value, and escapes every character that could be
// mistaken for another.
func drawable(s string, st style) row { return own(text.Drawable(s), st) }

// foreign makes glyphs of untrusted prose or code. Unlike drawable it keeps characters that are
// usual there and harmless on a line with a prefix, such as backslashes, dashes, and letters of all
// scripts with their marks.
func foreign(s string, st style) row {
	out := make(row, 0, len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		cluster := text.Cluster(s)
		switch {
		case r == '\t':
			out = append(out, own("    ", st)...)
		case cluster != "":
			out, n = append(out, glyphOf(cluster, st)), len(cluster)
		case text.Alone(r) && (r != utf8.RuneError || n > 1):
			out = append(out, glyph{r: r, s: st})
		default:
			out = append(out, drawable(s[:n], st)...)
		}
		s = s[n:]
	}
	return out
}

// columns returns the width of glyphs on a terminal that draws a cluster as one character.
func columns(gs ...glyph) (w int) {
	for _, g := range gs {
		switch {
		case g.parts != "" && g.r < utf8.RuneSelf && strings.HasPrefix(g.parts, "\ufe0f"): // an emoji such as a keycap
			w += 2
		case g.parts != "":
			w += max(1, min(uniseg.StringWidth(string(g.r)+g.parts), 2))
		case g.r < 0x7f, g.r >= 0x1f1e6 && g.r <= 0x1f1ff: // half a flag
			w++
		case strings.ContainsRune(wide, g.r):
			w += 2
		default:
			w += uniseg.StringWidth(string(g.r))
		}
	}
	return w
}

// wide are characters that terminals draw in two columns and uniseg counts as one.
const wide = "〰〽㊗㊙🈂🈷🉠🉡🉢🉣🉤🉥"

// wrap breaks glyphs into rows. With words it breaks at spaces where it can.
func wrap(gs row, width int, words bool) (rows []row) {
	width = max(width, 2)
	begin, used, blank := 0, 0, -1
	for i, g := range gs {
		w := columns(g)
		if used+w <= width {
			used += w
			if g.r == ' ' {
				blank = i
			}
			continue
		}
		end, next := i, i
		if words && g.r == ' ' {
			next = i + 1
		} else if words && blank > begin {
			end, next = blank, blank+1
		}
		rows = append(rows, gs[begin:end])
		begin, blank, used = next, -1, columns(gs[next:i+1]...)
	}
	return append(rows, gs[begin:])
}

// prefixed puts first in front of the first row, and rest in front of the others.
func prefixed(first, rest row, rows []row) []row {
	for i, r := range rows {
		rows[i] = append(first[:len(first):len(first)], r...)
		first = rest
	}
	return rows
}

// clip shortens glyphs to width columns.
func clip(gs row, width int) row {
	if columns(gs...) <= width {
		return gs
	}
	cut, used := 0, 1
	for cut < len(gs) && used+columns(gs[cut]) <= width {
		used += columns(gs[cut])
		cut++
	}
	if width < 1 {
		return nil
	}
	return append(gs[:cut:cut], glyph{r: '…', s: gs[cut].s})
}

// spread puts left and right at the ends of a row. If there is no room for both, left is clipped.
func spread(left, right row, width int) row {
	left = clip(left, width-columns(right...)-1)
	gap := max(0, width-columns(left...)-columns(right...))
	return append(append(left[:len(left):len(left)], own(strings.Repeat(" ", gap), 0)...), right...)
}

// paint returns the bytes that show a row. They reset the style at the end.
func paint(r row, color bool) string {
	which := 1
	if color {
		which = 0
	}
	var b strings.Builder
	var now style
	for _, g := range r {
		if g.s != now {
			b.WriteString("\x1b[0")
			for i, c := range codes {
				if g.s&(1<<i) != 0 {
					b.WriteString(c[which])
				}
			}
			b.WriteByte('m')
			now = g.s
		}
		b.WriteRune(g.r)
		b.WriteString(g.parts)
	}
	if now != 0 {
		b.WriteString("\x1b[m")
	}
	return b.String()
}
