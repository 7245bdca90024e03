package view

// The smallest terminal the multiplexer works on.
const (
	MinCols = 20
	MinRows = 5
)

// Layout divides the screen: one row of tabs, the viewport, one status line. Modes and
// panels are drawn over the viewport and never change its size, so that they never cause
// a resize of the agent.
type Layout struct {
	Tabs     Rect
	Viewport Rect
	Status   Rect
}

// LayOut computes the layout of a screen. It reports false when the screen is
// too small to work on.
func LayOut(cols, rows int) (Layout, bool) {
	l := Layout{
		Tabs:     Rect{W: cols, H: 1},
		Viewport: Rect{Y: 1, W: cols, H: max(1, rows-2)},
		Status:   Rect{Y: rows - 1, W: cols, H: 1},
	}
	return l, cols >= MinCols && rows >= MinRows
}

// Overlay divides the rows at the bottom of the viewport between the panel and the command line. The
// command line gets one to six rows, and the panel as many of the other rows as it wants. If the
// viewport has more than five rows, one of them stays visible.
func (l Layout) Overlay(panelWant, inputWant int) (panel, input Rect) {
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
	input = Rect{X: v.X, Y: bottom - inputRows, W: v.W, H: inputRows}
	panel = Rect{X: v.X, Y: input.Y - panelRows, W: v.W, H: panelRows}
	return panel, input
}
