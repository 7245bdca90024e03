package paint

import (
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

const (
	// minScroll is how many rows a scroll must save. Fewer are not worth its bytes
	// and the visible motion.
	minScroll = 3
	// maxShift bounds the distances, in rows, that scroll tries.
	maxShift = 40
)

// scroll checks whether many of the changed rows have moved up or down, and makes the
// terminal move them. The rows are compared afterwards as usual, so a wrong guess only
// costs bytes.
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

// changedRows returns the range of rows with changes and the number of changed rows. It
// returns none for a picture that Redraw was called for, because its rows have not
// moved.
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

// hash computes a hash for each of the rows top to bottom of the canvas and of the
// terminal; a blank row has 0. Different rows may have equal hashes; a scroll then saves
// less than expected.
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

// same counts the canvas's rows with text that the terminal shows shift rows further
// down.
func (p *Painter) same(shift int) (n int) {
	for y := max(0, -shift); y < min(len(p.want), len(p.want)-shift); y++ {
		if p.want[y] == p.have[y+shift] && p.want[y] != 0 {
			n++
		}
	}
	return n
}

// shift moves the terminal's rows top to bottom up by n rows, or down when n is
// negative, within a scroll region.
func (p *Painter) shift(c *Canvas, top, bottom, n int) {
	p.drawn += 2
	p.setPen(pen{}) // so that the new rows have the default background
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
