package paint

import (
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

const (
	// minScroll is how many rows must be saved before a scroll is worth its
	// bytes and the eye's notice.
	minScroll = 3
	// maxShift bounds how far a scroll is looked for.
	maxShift = 40
)

// scroll looks whether many of the changed rows are rows that have moved up or
// down, and has the terminal move them. The rows are then compared as ever, so
// a wrong guess costs bytes and nothing else.
func (p *Painter) scroll(c *Canvas) {
	top, bottom, changed := changedRows(c)
	if changed < minScroll {
		return
	}
	p.hash(c, top, bottom)
	best, saved := 0, minScroll-1
	still := p.same(0)
	for n := 1; n <= min(maxShift, bottom-top-minScroll); n++ {
		for _, shift := range [...]int{n, -n} {
			if same := p.same(shift) - still; same > saved {
				best, saved = shift, same
			}
		}
	}
	if best != 0 {
		p.shift(c, top, bottom, best)
	}
}

// changedRows is the range of rows with changes and how many of them have any. A
// picture that is drawn anew has not moved, and has none.
func changedRows(c *Canvas) (top, bottom, changed int) {
	top = len(c.dirty)
	for y, d := range c.dirty {
		if !c.whole[y].empty() {
			return 0, 0, 0
		}
		if !d.empty() {
			top, bottom = min(top, y), y+1
			changed++
		}
	}
	return top, bottom, changed
}

// hash numbers rows top to bottom of the canvas and of the terminal by what
// they hold, blank ones with 0. Two rows of one number may differ: then a scroll
// is not worth what it seemed.
func (p *Painter) hash(c *Canvas, top, bottom int) {
	p.want, p.have = p.want[:0], p.have[:0]
	for y := top; y < bottom; y++ {
		p.want = append(p.want, hashRow(c.cells[y*c.cols:(y+1)*c.cols]))
		p.have = append(p.have, hashRow(p.shown[y*c.cols:(y+1)*c.cols]))
	}
}

func hashRow(row []term.Cell) (h uint64) {
	const prime = 0x9e3779b97f4a7c15
	for i := range row {
		cell := &row[i]
		h = h<<5 | h>>59
		if v := uint64(cell.Rune) | uint64(cell.Style.Attr)<<32 | uint64(len(cell.Marks))<<48; v != 0 {
			h = (h ^ v) * prime
		}
		if v := uint64(cell.Style.FG) | uint64(cell.Style.BG)<<32; v != 0 {
			h = (h ^ v) * prime
		}
	}
	return h
}

// same counts the rows with text of the canvas that the terminal shows shift
// rows further down.
func (p *Painter) same(shift int) (n int) {
	for y := max(0, -shift); y < min(len(p.want), len(p.want)-shift); y++ {
		if p.want[y] == p.have[y+shift] && p.want[y] != 0 {
			n++
		}
	}
	return n
}

// shift moves what the terminal shows in rows top to bottom up by n rows, or
// down when n is negative, within a scroll region.
func (p *Painter) shift(c *Canvas, top, bottom, n int) {
	p.drawn += 2
	p.setPen(pen{}) // the rows that appear are in the default background
	p.buf = append(p.buf, "\x1b["...)
	p.buf = strconv.AppendInt(p.buf, int64(top)+1, 10)
	p.buf = append(p.buf, ';')
	p.buf = strconv.AppendInt(p.buf, int64(bottom), 10)
	p.buf = append(p.buf, 'r')
	p.x, p.y = -1, -1 // setting a region moves the cursor
	p.move(nil, 0, top)
	p.step(n, 'M', 'L')
	p.buf = append(p.buf, "\x1b[r"...)
	p.x, p.y = -1, -1
	region := p.shown[top*c.cols : bottom*c.cols]
	gap := region[len(region)-max(n, 0)*c.cols:]
	if n > 0 {
		copy(region, region[n*c.cols:])
	} else {
		gap = region[:-n*c.cols]
		copy(region[-n*c.cols:], region)
	}
	for i := range gap {
		gap[i] = blank
	}
	for y := top; y < bottom; y++ {
		c.dirty[y] = extent{0, c.cols}
	}
}
