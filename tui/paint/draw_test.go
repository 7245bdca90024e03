package paint

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// text draws s from column x of row y to the right. It leaves out what cannot be shown,
// and draws a blank for a wide character that would cross the edge.
func (c *Canvas) text(x, y int, style term.Style, s string) {
	for len(s) > 0 {
		cluster, rest, w, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		s = rest
		r, size := utf8.DecodeRuneInString(cluster)
		if w = min(w, 2); w < 1 || !showable(r) {
			continue
		}
		cells := []term.Cell{{Rune: r, Marks: cluster[size:], Width: uint8(w), Style: style}, {Style: style}}
		c.row(x, y, cells[:w])
		x += w
	}
}

// row copies cells into row y from column x on, as far as there is room.
func (c *Canvas) row(x, y int, cells []term.Cell) {
	x0, x1 := max(x, 0), min(x+len(cells), c.cols)
	if y < 0 || y >= c.rows || x0 >= x1 {
		return
	}
	c.split(x0, x1, y)
	for col := x0; col < x1; col++ {
		c.set(col, y, whole(cells, col-x, col, x0, x1))
	}
}
