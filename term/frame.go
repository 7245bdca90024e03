package term

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

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
	waits  time.Time // start of the update for whose end the frame waits; zero: it does not
}
