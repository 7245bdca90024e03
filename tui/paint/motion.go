package paint

import (
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// maxRewrite is how many cells are written again instead of moving the cursor over them.
// The shortest motion takes three bytes.
const maxRewrite = 3

// move moves the terminal's cursor to column x of row y in the fewest bytes. have is
// what row y shows, or nil.
func (p *Painter) move(have []term.Cell, x, y int) {
	switch {
	case p.x == x && p.y == y:
		return
	case p.y == y && p.rewrite(have, x):
	case p.y >= 0 && y == p.y:
		p.moveInRow(x)
	case p.y >= 0 && p.x == x && abs(y-p.y) < 100:
		p.step(y-p.y, 'B', 'A')
	case p.y >= 0 && x == 0 && y > p.y && y-p.y <= 3:
		p.buf = append(p.buf, '\r')
		for range y - p.y {
			p.buf = append(p.buf, '\n')
		}
	default:
		p.moveTo(x, y)
	}
	p.x, p.y = x, y
}

// moveTo writes an absolute position.
func (p *Painter) moveTo(x, y int) {
	p.buf = append(p.buf, "\x1b["...)
	if y > 0 || x > 0 {
		p.buf = strconv.AppendInt(p.buf, int64(y)+1, 10)
	}
	if x > 0 {
		p.buf = append(p.buf, ';')
		p.buf = strconv.AppendInt(p.buf, int64(x)+1, 10)
	}
	p.buf = append(p.buf, 'H')
}

// moveInRow moves within the row, relative to p.x if that is known.
func (p *Painter) moveInRow(x int) {
	switch d := x - p.x; {
	case x == 0:
		p.buf = append(p.buf, '\r')
	case p.x < 0 || digits(abs(d)) > digits(x+1):
		p.buf = append(p.buf, "\x1b["...)
		p.buf = strconv.AppendInt(p.buf, int64(x)+1, 10)
		p.buf = append(p.buf, 'G')
	case d < 0 && d >= -3:
		p.buf = append(p.buf, "\b\b\b"[:-d]...)
	default:
		p.step(d, 'C', 'D')
	}
}

// step writes a relative motion: forward by n, or back when n is negative.
func (p *Painter) step(n int, forward, back byte) {
	letter := forward
	if n < 0 {
		n, letter = -n, back
	}
	p.buf = append(p.buf, "\x1b["...)
	if n > 1 {
		p.buf = strconv.AppendInt(p.buf, int64(n), 10)
	}
	p.buf = append(p.buf, letter)
}

// rewrite moves right over a few plain cells by writing them again. It returns false if
// they are too many or not in the current style.
func (p *Painter) rewrite(have []term.Cell, x int) bool {
	if have == nil || p.x < 0 || x <= p.x || x-p.x > maxRewrite {
		return false
	}
	for i := p.x; i < x; i++ {
		cell := have[i]
		if cell.Width != 1 || cell.Marks != "" || cell.Rune > 0x7e || p.opts.pen(cell.Style) != p.pen {
			return false
		}
	}
	for i := p.x; i < x; i++ {
		p.buf = append(p.buf, max(byte(have[i].Rune), ' '))
	}
	return true
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func digits(n int) int {
	switch {
	case n < 10:
		return 1
	case n < 100:
		return 2
	}
	return 3
}
