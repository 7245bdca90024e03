package view

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Scene is everything that the compositor needs to draw a frame, except the cells of the panes, which
// it reads from their screens when it draws. A scene must not be changed after it was published.
type Scene struct {
	Seq        uint64
	Cols, Rows int
	Panes      []PlacedPane
	Layers     []*Surface // drawn over the panes, in order
	Cursor     *term.Cursor
	// Focus is the index in Panes of the focused pane; -1 for none. Its cursor is shown
	// when Cursor is nil.
	Focus int
	// Report asks the compositor to report when the scene has been painted. The approval panel needs
	// this to know what the person has seen.
	Report bool
}

// shows reports whether the scene shows the pane's screen at the same place.
func (s *Scene) shows(p PlacedPane) bool {
	for _, q := range s.Panes {
		if q.Screen == p.Screen && q.At == p.At {
			return true
		}
	}
	return false
}

// PlacedPane is a pane's screen and where it is shown.
type PlacedPane struct {
	Screen   *term.Screen
	At       Rect
	Scrolled bool // the view begins at line Top; otherwise it shows the newest lines
	Top      int
	Dropped  uint64      // Screen.Dropped when Top was set
	Crop     Crop        // the part that is shown of a screen larger than the pane; of a scrolled view, only X counts
	Margin   term.Cell   // fills the rest of a pane larger than the screen; the zero cell: blanks do
	Marks    []MarkedRow // highlighted cells, in lines of the frame
	Style    term.Style  // of the highlighted cells
}

// MarkedRow is a run of highlighted cells in one row of a pane.
type MarkedRow struct{ Y, From, To int }

// covers reports whether a layer hides a cell of the panes.
func (s *Scene) covers(x, y int) bool {
	return slices.ContainsFunc(s.Layers, func(l *Surface) bool { return l.At.Contains(x, y) })
}
