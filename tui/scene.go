package tui

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// scene is everything the compositor needs to draw a frame, but for the cells
// of the panes, which it takes from their screens at the last moment. A scene
// is never changed after it was published.
type scene struct {
	Seq        uint64
	Cols, Rows int
	Panes      []placedPane
	Layers     []*surface // drawn over the panes, in order
	Cursor     *term.Cursor
	// Focus is the index in Panes of the pane whose cursor is the terminal's,
	// used when Cursor is nil; -1 for none.
	Focus int
	// Report asks for word, once, that the frame has been written: what the
	// person has to have seen before deciding depends on it.
	Report bool
}

// shows says whether the pane is where the scene has it too.
func (s *scene) shows(p placedPane) bool {
	for _, q := range s.Panes {
		if q.Pane == p.Pane && q.At == p.At {
			return true
		}
	}
	return false
}

// placedPane is a pane's screen and where it is shown.
type placedPane struct {
	Pane     *pane
	At       rect
	Scrolled bool // Top is in the first row; otherwise the newest lines are seen
	Top      int
	Dropped  uint64      // by the screen when Top was true
	Marks    []markedRow // highlighted cells, in lines of the frame
	Style    term.Style  // of the highlighted cells
}

// markedRow is a run of highlighted cells in one row of a pane.
type markedRow struct{ Y, From, To int }

// sink is where the model's output goes. None of its methods but edit and show
// blocks.
type sink interface {
	// publish replaces the scene that is drawn.
	publish(s *scene)
	// wake asks for a frame because the screen of a visible pane has changed.
	wake()
	// show does the same, and may paint the frame before it returns: it is for
	// the goroutine that brought the change.
	show()
	// request asks the person's terminal for something besides cells: the bell,
	// a notification, the clipboard.
	request(r request)
	// edit shows text in a program that has the terminal to itself until it ends.
	// It blocks; only commands call it.
	edit(ctx context.Context, argv []string, name string, text []byte) error
	// answered passes on what the terminal said of itself.
	answered(r keys.Reply)
}
