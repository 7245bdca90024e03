package copymode

import (
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// MaxCopy bounds what a program or a selection may put into the clipboard, in
// bytes.
const MaxCopy = 1 << 20

// Point is a cell of a tab's lines, scrollback included, counted from the
// oldest line.
type Point struct{ X, Line int }

// before reports whether p comes before q in reading order.
func (p Point) before(q Point) bool {
	return p.Line < q.Line || p.Line == q.Line && p.X < q.X
}

// State is copy mode: a cursor that moves over the lines of a tab while
// its agent runs on.
type State struct {
	Screen    *term.Screen // nil: copy mode is closed
	cols      int          // of the view
	rows      int
	Top       int    // line in the first row of the view
	Left      int    // column in the first column of the view
	Dropped   uint64 // Screen.Dropped when the line numbers here were last corrected
	Cursor    Point
	anchor    Point
	selecting bool
	shape     shape
	mark      Point // to which the person can return
	search
}

// shape is the shape of a selection: which cells between its two ends belong to it.
type shape uint8

const (
	shapeText  shape = iota // all from one end to the other, in reading order
	shapeLines              // whole lines
	shapeBlock              // the columns between the two ends
)

// total returns the number of lines, scrollback included.
func (c *State) total() int { return max(1, c.Screen.LineCount()) }

// Begin opens copy mode over the visible part of a screen: from line top and column left on, in
// the view at.
func Begin(screen *term.Screen, top, left int, at view.Rect) State {
	c := State{Screen: screen, cols: at.W, rows: at.H, Top: top, Left: left, Dropped: screen.Dropped()}
	cols, rows := screen.Size()
	var f term.Frame
	screen.Snapshot(&f, 0)
	c.Cursor = Point{min(f.Cursor.X, max(0, cols-1)), c.total() - rows + f.Cursor.Y}
	if c.Cursor.Line >= c.Top+c.rows {
		c.Cursor.Line = c.Top + c.rows - 1
	}
	c.Cursor.X = min(max(c.Left, c.Cursor.X), c.Left+max(0, c.cols-1))
	return c
}

// Renumber corrects the line numbers for lines that the scrollback has dropped while the
// agent ran on.
func (c *State) Renumber() {
	n := DroppedSince(c.Screen, c.Dropped)
	c.Dropped = c.Screen.Dropped()
	if n == 0 {
		return
	}
	for _, p := range []*Point{&c.Cursor, &c.anchor, &c.mark, &c.from.cursor} {
		if p.Line -= n; p.Line < 0 {
			*p = Point{}
		}
	}
	c.Top, c.from.top = max(0, c.Top-n), max(0, c.from.top-n)
	c.count()
}

// span returns the first and the last cell of the selection, which are the corners of a block.
func (c *State) span() (from, to Point) {
	from, to = c.anchor, c.Cursor
	if to.before(from) {
		from, to = to, from
	}
	switch c.shape {
	case shapeLines:
		width, _ := c.Screen.Size()
		from.X, to.X = 0, max(0, width-1)
	case shapeBlock:
		from.X, to.X = min(from.X, to.X), max(from.X, to.X)
	}
	return from, to
}

// selected returns the text of the selection. Lines that the screen has wrapped are
// joined again, except in a block.
func (c *State) selected() string {
	from, to := c.span()
	var b strings.Builder
	for i := from.Line; i <= to.Line && b.Len() <= MaxCopy; i++ {
		cells, wrapped := c.Screen.Line(i)
		lo, hi := 0, len(cells)
		block := c.shape == shapeBlock
		wrapped = wrapped && !block
		if i == from.Line || block {
			lo = min(from.X, len(cells))
		}
		if i == to.Line || block {
			hi = min(to.X+1, len(cells))
		}
		if hi < len(cells) && cells[hi].Width == 0 {
			hi++
		}
		text := view.CellText(cells[lo:max(lo, hi)])
		if i == to.Line && !block || wrapped {
			b.WriteString(text)
		} else {
			b.WriteString(strings.TrimRight(text, " "))
		}
		if i < to.Line && !wrapped {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Take returns the text to copy: the selection or, without one, the line of the cursor.
func (c *State) Take() string {
	if !c.selecting {
		c.anchor, c.shape = c.Cursor, shapeLines
	}
	text := c.selected()
	if c.shape == shapeLines {
		text = strings.TrimRight(text, " ")
	}
	return text
}

// SelectFrom begins a selection at a cell.
func (c *State) SelectFrom(p Point) { c.anchor, c.selecting = p, true }

// SelectWord selects the word at a cell or, with lines, the whole line. A word ends at blanks,
// quotes and brackets, so that a path or a URL is one word.
func (c *State) SelectWord(p Point, lines bool) {
	c.anchor, c.Cursor, c.selecting, c.shape = p, p, true, shapeText
	if lines {
		c.shape = shapeLines
		return
	}
	line := c.lineRunes(p.Line)
	inWord := func(x int) bool { return x >= 0 && x < len(line) && !endsWord(line, x) }
	for inWord(p.X) && inWord(c.anchor.X-1) {
		c.anchor.X--
	}
	for inWord(p.X) && inWord(c.Cursor.X+1) {
		c.Cursor.X++
	}
}

// endsWord reports whether a column is not part of a word that a double click selects.
func endsWord(line []rune, x int) bool {
	r := line[x]
	if r == 0 && x > 0 { // the second half of a wide character
		r = line[x-1]
	}
	return unicode.IsSpace(r) || unicode.Is(unicode.Pi, r) || unicode.Is(unicode.Pf, r) || strings.ContainsRune("\"'`()[]{}<>|;,│", r)
}

// MoveTo puts the cursor on a cell.
func (c *State) MoveTo(p Point) { c.Cursor = p }

// DroppedSince returns how many lines the scrollback has dropped since s.Dropped()
// returned since. Line numbers from that time are too high by this number.
func DroppedSince(s *term.Screen, since uint64) int {
	now := s.Dropped()
	if now < since { // the scrollback was cleared, and the count began again
		return 0
	}
	return int(now - since)
}
