package paint

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Text draws s from column x of row y to the right and returns how many columns
// it takes, also where the canvas ends before. Control characters and others
// that cannot be shown are left out; a wide character that would cross the edge
// is a blank.
func (c *Canvas) Text(x, y int, style term.Style, s string) (width int) {
	return c.draw(x, y, c.cols-x, style, s)
}

// TextIn is Text within w columns: what is longer ends with an ellipsis. It
// returns the columns taken, at most w.
func (c *Canvas) TextIn(x, y, w int, style term.Style, s string) (width int) {
	if w <= 0 {
		return 0
	}
	if TextWidth(s) <= w {
		return c.draw(x, y, w, style, s)
	}
	head := Clip(s, w-1)
	n := c.draw(x, y, w-1, style, head)
	return n + c.draw(x+n, y, 1, style, "…")
}

// TextWidth is how many columns Text takes for s.
func TextWidth(s string) (width int) {
	for len(s) > 0 {
		var w int
		_, w, s = cluster(s)
		width += w
	}
	return width
}

// Clip is the longest beginning of s that fits into w columns.
func Clip(s string, w int) string {
	rest := s
	for len(rest) > 0 {
		_, n, after := cluster(rest)
		if w -= n; w < 0 {
			break
		}
		rest = after
	}
	return s[:len(s)-len(rest)]
}

// draw is Text with room columns from x.
func (c *Canvas) draw(x, y, room int, style term.Style, s string) (width int) {
	end := min(x+room, c.cols)
	for len(s) > 0 {
		var text string
		var w int
		text, w, s = cluster(s)
		if at := x + width; w > 0 && y >= 0 && y < c.rows && at+w > 0 && at < end {
			c.put(at, y, end, style, text, w)
		}
		width += w
	}
	return width
}

// put draws one character of one or two columns that is at least partly inside.
func (c *Canvas) put(x, y, end int, style term.Style, text string, w int) {
	x0, x1 := max(x, 0), min(x+w, end)
	c.split(x0, x1, y)
	if x1-x0 < w { // half a character
		c.set(x0, y, tidy(term.Cell{Width: 1, Style: style}))
		return
	}
	r, size := utf8.DecodeRuneInString(text)
	c.set(x, y, tidy(term.Cell{Rune: r, Marks: text[size:], Width: uint8(w), Style: style}))
	if w == 2 {
		c.set(x+1, y, term.Cell{Style: style})
	}
}

// cluster cuts the first grapheme cluster off s. Its width is 0 when it is
// nothing that can be shown.
func cluster(s string) (text string, width int, rest string) {
	if c := s[0]; c < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if c < 0x20 || c == 0x7f {
			return s[:1], 0, s[1:]
		}
		return s[:1], 1, s[1:]
	}
	text, rest, width, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	if r, _ := utf8.DecodeRuneInString(text); !showable(r) {
		return text, 0, rest
	}
	return text, min(width, 2), rest
}
