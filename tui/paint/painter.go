package paint

import (
	"strconv"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Options describe the terminal that a Painter paints on. The zero Options describe a
// modern one.
type Options struct {
	Colors ColorProfile
}

// Painter turns canvases into the bytes that make the person's terminal show them. It is
// for one goroutine, except Answer, Synchronized and Clusters. It assumes that the
// terminal is in raw mode with autowrap off; autowrap on does no harm.
type Painter struct {
	opts       Options
	cols, rows int
	shown      []term.Cell // what the terminal shows, row by row
	valid      bool        // shown is correct; otherwise everything must be drawn again

	synced   atomic.Bool // the terminal supports mode 2026
	clusters atomic.Bool // the terminal joins grapheme clusters

	buf   []byte // the frame being made
	drawn int    // rows written to in this frame

	x, y   int // where the terminal's cursor is; -1 if that is not known
	pen    pen
	last   term.Style // the style that pen was made from, if styled is set
	styled bool
	cursor term.Cursor // shape and visibility as the terminal has them

	sgr, reset []byte   // two ways to write one change of style
	want, have []uint64 // hashes of rows; see hash
}

// NewPainter makes a painter for a terminal whose content is not known yet: the first
// frame clears the terminal and draws everything.
func NewPainter(o Options) *Painter { return &Painter{opts: o} }

// Invalidate tells the painter that the terminal may not show what was painted. The next
// frame clears the terminal and draws everything.
func (p *Painter) Invalidate() { p.valid = false }

// Answer reads from an answer of the terminal whether it supports modes 2026 and 2027.
// It ignores other answers. It is safe for concurrent use.
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

// Synchronized sets whether the terminal has confirmed that it supports mode 2026. Then
// the cursor need not be hidden while a frame is drawn. It is safe for concurrent use.
func (p *Painter) Synchronized(on bool) { p.synced.Store(on) }

// Clusters sets whether the terminal has confirmed that it joins grapheme clusters, as
// in mode 2027. On other terminals, only the part of a cluster before a joiner is
// written, because the rest could take columns of its own. It is safe for concurrent
// use.
func (p *Painter) Clusters(on bool) { p.clusters.Store(on) }

// The frame's brackets: the terminal shows everything between them at once. If the
// terminal does not support them, the cursor is hidden as well, so that nobody sees it
// jump.
const (
	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// bracketAbove is the length in bytes above which a change within one row is bracketed.
const bracketAbove = 128

// Paint returns the bytes of one frame, to be written in one piece, or nil when the
// terminal shows the canvas already. They are valid until the next call. Frames are
// bracketed as synchronized output, except a few bytes within one row, which cannot tear
// and are shorter than the brackets.
func (p *Painter) Paint(c *Canvas) []byte {
	p.begin(c)
	prefix := len(p.buf)
	hidden := len(p.buf) > len(syncBegin)
	if p.valid {
		p.scroll(c)
	} else {
		p.clear(c)
	}
	for y := range c.rows {
		if d := c.dirty[y]; d.hi > d.lo {
			before := len(p.buf)
			p.row(c, y, p.redraw(c, y, d))
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

// begin starts a frame with the brackets that it may need.
func (p *Painter) begin(c *Canvas) {
	if c.cols != p.cols || c.rows != p.rows {
		p.cols, p.rows, p.valid = c.cols, c.rows, false
	}
	p.drawn = 0
	p.buf = append(p.buf[:0], syncBegin...)
	if p.cursor.Visible && !p.synced.Load() {
		p.buf = append(p.buf, hideCursor...)
	}
}

// clear blanks the terminal and marks all cells, so that those that are not blank are
// drawn.
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
	// The cursor's shape is not known either; this value makes placeCursor write it.
	p.cursor = term.Cursor{Shape: unknownShape}
	p.buf = append(p.buf, hideCursor...)
	p.valid = true
}

// unknownShape is a shape that differs from all others.
const unknownShape term.CursorShape = 255

// redraw returns the columns of row y to compare. If any column differs in the part of
// the row that is drawn as a whole, all of that part is marked as unknown and included.
func (p *Painter) redraw(c *Canvas, y int, d extent) extent {
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

// unknown is a cell that differs from all others.
var unknown = term.Cell{Width: 255}

// row draws the cells of row y within d that differ.
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
			have[x] = want[x] // it was drawn with its first half
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

// beforeCursor reports whether the cursor is at most maxRewrite columns to the right of
// a cell. A prompt and the blanks after it are then written in one piece.
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
		p.x, p.y = -1, -1 // terminals differ in where the cursor is after the last column
	case !sure:
		p.x = -1
	}
}

// Runs of blanks shorter than these take fewer bytes as spaces.
const (
	minEraseLine  = 4
	minEraseChars = 8
)

// erase blanks a run of cells from x with an erase sequence if that is shorter, and
// returns how many cells it blanked. It only erases to the default background, because
// some terminals cannot erase to another one.
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

// placeCursor ends a frame: it sets the cursor to the canvas's position, shape and
// visibility.
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
