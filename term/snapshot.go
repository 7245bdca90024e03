package term

import (
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Snapshot updates f to show the screen scrolled back by offset lines, or by all lines if
// there are fewer; f.Offset is the actual offset. It copies the lines that changed since the
// last Snapshot into f, or all lines if f shows another screen, size or offset.
func (s *Screen) Snapshot(f *Frame, offset int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot(f, offset)
}

// Follow is Snapshot with offset 0. During a synchronized update it does not change a frame
// that shows the screen, for at most 150 ms, so that the frame shows no half update.
func (s *Screen) Follow(f *Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.emulator; e != nil && f.screen == s && f.Offset == 0 && e.sync.holds(f) {
		return
	}
	s.snapshot(f, 0)
}

// SnapshotAt is Snapshot with line top in the first row, if there are enough lines below
// it. top counts like Line's argument at the time when Dropped returned dropped. So a
// view that is scrolled back does not move, however fast the program writes. During a
// synchronized update SnapshotAt does not change a frame that shows these lines.
func (s *Screen) SnapshotAt(f *Frame, top int, dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	offset := 0
	if e := s.emulator; e != nil {
		if now := e.history.dropped; now > dropped {
			top -= int(now - dropped)
		}
		offset = max(0, min(e.scrollback()-top, e.scrollback()))
		if f.screen == s && f.Offset == offset && e.sync.holds(f) {
			return
		}
	}
	s.snapshot(f, offset)
}

func (s *Screen) snapshot(f *Frame, offset int) {
	if s.emulator == nil {
		*f = Frame{}
		return
	}
	e := s.emulator
	scrollback := e.scrollback()
	offset = max(0, min(offset, scrollback))
	generation := s.generation.Load()
	fresh := f.screen != s || f.Cols != e.cols || f.Rows != e.rows || f.Offset != offset ||
		f.AltScreen != e.alt || offset > 0 && f.Generation != generation
	if len(f.Lines) != e.rows {
		f.Lines = make([]Line, e.rows)
		fresh = true
	}
	for y := range f.Lines {
		l := &f.Lines[y]
		i := y - offset // row of the screen; negative ones are scrollback
		switch {
		case i < 0:
			if fresh {
				l.Cells = padCells(unpack(l.Cells[:0], e.history.line(scrollback+i), e.widths), e.cols)
				e.own.paint(l.Cells)
				l.Generation = generation
			}
		case fresh || s.lineGens[i] > l.Generation:
			l.Cells = padCells(e.appendCells(slices.Grow(l.Cells[:0], e.cols), e.grid.row(i, e.run)), e.cols)
			e.own.paint(l.Cells)
			l.Generation = s.lineGens[i]
			if offset > 0 {
				l.Generation = generation
			}
		}
	}
	f.screen = s
	f.Cols, f.Rows = e.cols, e.rows
	f.Cursor = s.cursor()
	f.Modes = e.keyModes()
	f.Title = e.title
	f.AltScreen = e.alt
	f.Scrollback = scrollback
	f.Offset = offset
	f.Generation = generation
	f.waits = time.Time{}
}

// padCells pads a line with blanks, or cuts it, to cols cells.
func padCells(cells []Cell, cols int) []Cell {
	for len(cells) < cols {
		cells = append(cells, Cell{Width: 1})
	}
	if len(cells) > cols {
		cells = cells[:cols]
		if cells[cols-1].Width == 2 {
			cells[cols-1] = Cell{Width: 1, Style: cells[cols-1].Style}
		}
	}
	return cells
}

// scrollback returns how many lines are above the screen; the alternate screen has none.
func (e *emulator) scrollback() int {
	if e.alt {
		return 0
	}
	return e.history.count
}

// CursorShape is the shape that a program chose with DECSCUSR.
type CursorShape uint8

// The cursor shapes, in DECSCUSR's order.
const (
	CursorDefault CursorShape = iota
	CursorBlinkingBlock
	CursorBlock
	CursorBlinkingUnderline
	CursorUnderline
	CursorBlinkingBar
	CursorBar
)

// Cursor is the cursor's position and how it is shown.
type Cursor struct {
	X, Y    int // zero-based
	Visible bool
	Shape   CursorShape
}

// Line is one line of a Frame.
type Line struct {
	Cells      []Cell
	Generation uint64 // of the screen, when this line last changed
}

// Frame is a painter's copy of a screen. The zero Frame is ready for use. Snapshot into
// the same Frame copies only what changed since the last time.
type Frame struct {
	Cols, Rows int
	Lines      []Line
	Cursor     Cursor
	Modes      keys.Modes
	Title      string
	AltScreen  bool
	Scrollback int    // lines above the screen
	Offset     int    // how many of them this frame is scrolled back
	Generation uint64 // of the screen when the frame was taken

	screen *Screen   // the screen that the lines are from
	waits  time.Time // start of the update whose end the frame waits for; zero if it does not wait
}

// maxHold is how long synchronized updates may delay painting.
const maxHold = 150 * time.Millisecond

// syncHold tracks synchronized updates (mode 2026). The time counts from the start of the
// first update after a Write that did not end in one, so that a program that ends and
// begins updates without pause cannot prevent painting.
type syncHold struct {
	active bool
	since  time.Time // start of the first update; zero after a Write that ended outside of one
}

func (h *syncHold) begin() {
	h.active = true
	if h.since.IsZero() {
		h.since = time.Now()
	}
}

func (h *syncHold) end() { h.active = false }

// writeEnded is called when a Write ends. If no update is active then, the next update may
// delay painting for maxHold again.
func (h *syncHold) writeEnded() {
	if !h.active {
		h.since = time.Time{}
	}
}

// holding reports whether a frame taken now would show an unfinished update.
func (h *syncHold) holding() bool {
	return h.active && time.Since(h.since) < maxHold
}

// holds reports whether a frame should wait for the end of an update. Each frame waits for
// maxHold at most, even if other frames are taken meanwhile, and even if it misses the end of
// every update.
func (h *syncHold) holds(f *Frame) bool {
	if !h.holding() {
		return false
	}
	if f.waits.IsZero() {
		f.waits = h.since
	}
	return time.Since(f.waits) < maxHold
}
