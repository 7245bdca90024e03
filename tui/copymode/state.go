package copymode

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
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
	wholeLine bool

	Searching bool // the person is typing a query into Line
	Backward  bool // the direction of the search
	Line      input.Line
	Query     string
}

// total returns the number of lines, scrollback included.
func (c *State) total() int { return max(1, c.Screen.LineCount()) }

// Begin opens copy mode over the visible part of a screen: from line top and column left on, in
// a view of a size.
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
	for _, p := range []*Point{&c.Cursor, &c.anchor} {
		if p.Line -= n; p.Line < 0 {
			*p = Point{}
		}
	}
	c.Top = max(0, c.Top-n)
}

// span returns the two ends of the selection in reading order.
func (c *State) span() (from, to Point) {
	from, to = c.anchor, c.Cursor
	if to.before(from) {
		from, to = to, from
	}
	if c.wholeLine {
		width, _ := c.Screen.Size()
		from.X, to.X = 0, max(0, width-1)
	}
	return from, to
}

// selected returns the text of the selection. Lines that the screen has wrapped are
// joined again.
func (c *State) selected() string {
	from, to := c.span()
	var b strings.Builder
	for i := from.Line; i <= to.Line && b.Len() <= MaxCopy; i++ {
		cells, wrapped := c.Screen.Line(i)
		lo, hi := 0, len(cells)
		if i == from.Line {
			lo = min(from.X, len(cells))
		}
		if i == to.Line {
			hi = min(to.X+1, len(cells))
		}
		if hi < len(cells) && cells[hi].Width == 0 {
			hi++
		}
		text := view.CellText(cells[lo:max(lo, hi)])
		if i == to.Line || wrapped {
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
		c.anchor, c.wholeLine = c.Cursor, true
	}
	text := c.selected()
	if c.wholeLine {
		text = strings.TrimRight(text, " ")
	}
	return text
}

// SelectFrom begins a selection at a cell.
func (c *State) SelectFrom(p Point) { c.anchor, c.selecting = p, true }

// MoveTo puts the cursor on a cell.
func (c *State) MoveTo(p Point) { c.Cursor = p }

// DroppedSince returns how many lines the scrollback has dropped since s.Dropped()
// returned since. Line numbers from that time are too high by so many.
func DroppedSince(s *term.Screen, since uint64) int {
	now := s.Dropped()
	if now < since { // the scrollback was cleared, and the count began again
		return 0
	}
	return int(now - since)
}
