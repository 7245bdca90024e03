package tui

// The smallest terminal the multiplexer works on.
const (
	minCols = 20
	minRows = 5
)

// layout divides the screen: one row of tabs, the viewport, one status line.
// The viewport never changes its size for a mode or a panel; those are drawn
// over it, so that the agent is never told of another size because of them.
type layout struct {
	Cols, Rows int
	Tabs       rect
	Viewport   rect
	Status     rect
}

// layOut computes the layout of a screen. It reports false when the screen is
// too small to work on.
func layOut(cols, rows int) (layout, bool) {
	l := layout{
		Cols:     cols,
		Rows:     rows,
		Tabs:     rect{0, 0, cols, 1},
		Viewport: rect{0, 1, cols, max(1, rows-2)},
		Status:   rect{0, rows - 1, cols, 1},
	}
	return l, cols >= minCols && rows >= minRows
}

// overlay divides the rows at the bottom of the viewport among the panel and
// the command line. The command line gets one to six rows, the panel what its
// lines need up to the rest, but always leaves a row of the viewport to be seen
// when there are more than five.
func (l layout) overlay(panelWant, inputWant int) (panel, input rect) {
	v := l.Viewport
	inputRows := min(max(1, inputWant), 6, max(1, v.H/2))
	room := v.H - inputRows
	if v.H > 5 {
		room--
	}
	panelRows := min(panelWant, room)
	if panelRows < 2 {
		panelRows = 0
	}
	bottom := v.Y + v.H
	input = rect{v.X, bottom - inputRows, v.W, inputRows}
	panel = rect{v.X, input.Y - panelRows, v.W, panelRows}
	return panel, input
}
