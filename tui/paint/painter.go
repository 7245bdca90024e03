package paint

import (
	"strconv"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Options are what a Painter knows of the terminal it paints on. The zero
// Options are a modern one.
type Options struct {
	Colors ColorProfile
}

// Painter turns canvases into the bytes that bring the person's terminal from
// what it shows to what it shall show. It is for one goroutine, but for what
// tells it of the terminal's abilities. The terminal is taken to be in its raw
// mode with autowrap off; autowrap on does no harm.
type Painter struct {
	opts       Options
	cols, rows int
	shown      []term.Cell // what is on the terminal, row by row
	fresh      bool        // shown is true; otherwise all is to be drawn anew

	synced   atomic.Bool // the terminal is known to know mode 2026
	clusters atomic.Bool // the terminal is known to join grapheme clusters

	buf   []byte // the frame being made
	drawn int    // rows written to in this frame

	x, y   int // where the terminal's cursor is; -1 where that is not certain
	pen    pen
	last   term.Style // what pen was made of, when styled says so
	styled bool
	cursor term.Cursor // shape and visibility as the terminal has them

	sgr, reset []byte   // two ways to write one change of style
	want, have []uint64 // rows by their content; see hash
}

// NewPainter makes a painter for a terminal of which nothing is known yet: the
// first frame clears and draws all of it.
func NewPainter(o Options) *Painter { return &Painter{opts: o} }

// Invalidate says that the terminal may show something else than was painted.
// The next frame clears it and draws everything.
func (p *Painter) Invalidate() { p.fresh = false }

// Answer learns from an answer of the terminal whether it knows modes 2026 and
// 2027; any other answer tells it nothing. It is safe for concurrent use.
func (p *Painter) Answer(r keys.Reply) {
	if r.Kind != keys.ReplyMode || len(r.Params) != 2 {
		return
	}
	switch state := r.Params[1]; r.Params[0] {
	case 2026:
		p.Synchronized(state >= 1 && state <= 3)
	case 2027:
		p.Clusters(state == 1 || state == 3)
	}
}

// Synchronized says that the terminal has confirmed to know mode 2026, so that
// the cursor need not be hidden while a frame is drawn. It is safe for
// concurrent use.
func (p *Painter) Synchronized(on bool) { p.synced.Store(on) }

// Clusters says that the terminal has confirmed to join grapheme clusters, as in
// mode 2027. On another one only their first character is written, lest the rest
// take columns of its own. It is safe for concurrent use.
func (p *Painter) Clusters(on bool) { p.clusters.Store(on) }

// The frame's brackets: what is between them appears at once. Without the mode
// the cursor is hidden instead, lest it be seen jumping about.
const (
	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// bracketAbove is the length of a change within one row above which it is
// bracketed.
const bracketAbove = 128

// Paint returns the bytes of one frame, to be written in one piece, or nil when
// the terminal shows the canvas already. They are valid until the next call.
// Frames are bracketed as synchronized output, but for a few bytes within one
// row, which cannot tear and are worth less than the brackets.
func (p *Painter) Paint(c *Canvas) []byte {
	p.begin(c)
	prefix := len(p.buf)
	hidden := len(p.buf) > len(syncBegin)
	if p.fresh {
		p.scroll(c)
	} else {
		p.clear(c)
	}
	for y := range c.rows {
		if d := c.dirty[y]; d.hi > d.lo {
			before := len(p.buf)
			p.row(c, y, p.anew(c, y, d))
			if len(p.buf) > before {
				p.drawn++
			}
			c.dirty[y] = extent{}
		}
		c.whole[y] = extent{}
	}
	bracket := p.drawn > 1 || len(p.buf)-prefix > bracketAbove
	if bracket && hidden {
		p.cursor.Visible = false
	}
	p.placeCursor(c.cursor)
	switch {
	case len(p.buf) == prefix:
		return nil
	case bracket:
		p.buf = append(p.buf, syncEnd...)
		return p.buf
	}
	return p.buf[prefix:]
}

// begin starts a frame with the brackets it may turn out to need.
func (p *Painter) begin(c *Canvas) {
	if c.cols != p.cols || c.rows != p.rows {
		p.cols, p.rows, p.fresh = c.cols, c.rows, false
	}
	p.drawn = 0
	p.buf = append(p.buf[:0], syncBegin...)
	if p.cursor.Visible && !p.synced.Load() {
		p.buf = append(p.buf, hideCursor...)
	}
}

// clear blanks the terminal and has every cell drawn that is not blank.
func (p *Painter) clear(c *Canvas) {
	p.buf = append(p.buf, "\x1b[r\x1b[m\x1b[H\x1b[2J"...)
	p.x, p.y, p.pen, p.styled = 0, 0, pen{}, false
	p.drawn += 2
	if n := c.cols * c.rows; cap(p.shown) >= n {
		p.shown = p.shown[:n]
	} else {
		p.shown = make([]term.Cell, n)
	}
	for i := range p.shown {
		p.shown[i] = blank
	}
	for y := range c.dirty {
		c.dirty[y] = extent{0, c.cols}
	}
	// Shape and visibility are not known either: neither of the values below
	// is one a canvas can ask for, so both are written.
	p.cursor = term.Cursor{Shape: unknownShape}
	p.buf = append(p.buf, hideCursor...)
	p.fresh = true
}

// unknownShape is a shape that differs from all.
const unknownShape term.CursorShape = 255

// anew forgets what the terminal shows of row y where that is to be drawn as a
// whole, if any of it differs, and returns what may differ then.
func (p *Painter) anew(c *Canvas, y int, d extent) extent {
	whole := c.whole[y]
	if whole.empty() {
		return d
	}
	want := c.cells[y*c.cols : (y+1)*c.cols]
	have := p.shown[y*c.cols : (y+1)*c.cols]
	for x := max(d.lo, whole.lo); x < min(d.hi, whole.hi); x++ {
		if want[x] == have[x] {
			continue
		}
		for i := whole.lo; i < whole.hi; i++ {
			have[i] = unknown
		}
		return d.with(whole.lo, whole.hi)
	}
	return d
}

// unknown is a cell that differs from all.
var unknown = term.Cell{Width: 255}

// row draws what differs in row y within d.
func (p *Painter) row(c *Canvas, y int, d extent) {
	want := c.cells[y*c.cols : (y+1)*c.cols]
	have := p.shown[y*c.cols : (y+1)*c.cols]
	lo := d.lo
	if lo > 0 && want[lo].Width == 0 {
		lo--
	}
	for x := lo; x < d.hi; x++ {
		if want[x] == have[x] {
			continue
		}
		if want[x].Width == 0 {
			have[x] = want[x] // drawn with its first half
			continue
		}
		if want[x].Rune == 0 && !c.beforeCursor(x, y) {
			if n := p.erase(want, have, x, y); n > 0 {
				x += n - 1
				continue
			}
		}
		p.cell(want, have, x, y)
	}
}

// beforeCursor says whether the cursor shall stand a little to the right of a
// cell: a prompt and the blank behind it are written as one.
func (c *Canvas) beforeCursor(x, y int) bool {
	return c.cursor.Visible && c.cursor.Y == y && x < c.cursor.X && c.cursor.X-x <= maxRewrite
}

// cell draws the cell in column x of row y.
func (p *Painter) cell(want, have []term.Cell, x, y int) {
	cell := want[x]
	p.move(have, x, y)
	p.style(cell)
	sure := true
	if cell.Rune == 0 {
		p.buf = append(p.buf, ' ')
	} else {
		sure = p.text(cell)
	}
	have[x] = cell
	w := int(cell.Width)
	if w == 2 && x+1 < len(have) {
		have[x+1] = want[x+1]
	}
	p.x = x + w
	switch {
	case p.x >= len(want):
		p.x, p.y = -1, -1 // at the edge: terminals differ
	case !sure:
		p.x = -1
	}
}

// Runs of blanks shorter than these are cheaper written as spaces.
const (
	minEraseLine  = 4
	minEraseChars = 8
)

// erase blanks a run of cells from x by an erase sequence where that is
// shorter, and returns how many cells it took care of. Only the default
// background is erased: not every terminal erases with another one.
func (p *Painter) erase(want, have []term.Cell, x, y int) int {
	n, last := 0, 0
	for i := x; i < len(want) && want[i] == blank; i++ {
		n++
		if have[i] != blank {
			last = n
		}
	}
	toEnd := x+n == len(want)
	if toEnd && last < minEraseLine || !toEnd && last < minEraseChars {
		return 0
	}
	p.move(have, x, y)
	p.setPen(pen{})
	if toEnd {
		p.buf = append(p.buf, "\x1b[K"...)
		last = n
	} else {
		p.buf = append(p.buf, "\x1b["...)
		p.buf = strconv.AppendInt(p.buf, int64(last), 10)
		p.buf = append(p.buf, 'X')
	}
	for i := x; i < x+last; i++ {
		have[i] = blank
	}
	return last
}

// placeCursor ends a frame with the cursor as the canvas wants it.
func (p *Painter) placeCursor(want term.Cursor) {
	if !want.Visible {
		if p.cursor.Visible {
			p.buf = append(p.buf, hideCursor...)
		}
		p.cursor.Visible = false
		return
	}
	if p.x != want.X || p.y != want.Y {
		p.move(p.shown[want.Y*p.cols:(want.Y+1)*p.cols], want.X, want.Y)
	}
	if p.cursor.Shape != want.Shape {
		p.buf = append(p.buf, "\x1b["...)
		p.buf = strconv.AppendInt(p.buf, int64(want.Shape), 10)
		p.buf = append(p.buf, " q"...)
	}
	if !p.cursor.Visible {
		p.buf = append(p.buf, showCursor...)
	}
	p.cursor = want
}
