package view

import "github.com/ironcurtain-mux/ironcurtain-mux/term"

// Scene is everything the compositor needs to draw a frame, but for the cells
// of the panes, which it takes from their screens at the last moment. A scene
// is never changed after it was published.
type Scene struct {
	Seq        uint64
	Cols, Rows int
	Panes      []PlacedPane
	Layers     []*Surface // drawn over the panes, in order
	Cursor     *term.Cursor
	// Focus is the index in Panes of the pane whose cursor is the terminal's,
	// used when Cursor is nil; -1 for none.
	Focus int
	// Report asks for word, once, that the frame has been written: what the
	// person has to have seen before deciding depends on it.
	Report bool
}

// shows says whether the pane is where the scene has it too.
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
	Scrolled bool // Top is in the first row; otherwise the newest lines are seen
	Top      int
	Dropped  uint64      // by the screen when Top was true
	Marks    []MarkedRow // highlighted cells, in lines of the frame
	Style    term.Style  // of the highlighted cells
}

// MarkedRow is a run of highlighted cells in one row of a pane.
type MarkedRow struct{ Y, From, To int }
