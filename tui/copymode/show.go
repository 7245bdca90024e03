package copymode

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Hints returns what the status line shows in copy mode: where the cursor is, and keys.
func (c *State) Hints(k *input.Keys) []string {
	where := fmt.Sprintf("copy line %d/%d", c.Cursor.Line+1, c.total())
	if c.Searching {
		return input.NonEmpty(where, c.Found(), k.Hint(input.PlaceCommand, input.ActEnter, "stays here"), k.Hint(input.PlaceCommand, input.ActLeave, "back"))
	}
	if c.selecting {
		return input.NonEmpty(where, k.Hint(input.PlaceCopy, input.ActCopyYank, "copies"), "Esc drops the selection")
	}
	return input.NonEmpty(where, c.Found(), k.Hint(input.PlaceCopy, input.ActCopySelect, "selects"), k.Hint(input.PlaceCopy, input.ActCopySearch, "searches"),
		k.Hint(input.PlaceCopy, input.ActCopyEdit, "edits"), k.Hint(input.PlaceCopy, input.ActLeave, "leaves"))
}

// Marks returns the highlighted cells of a view: the selection or, without one, the
// matches of the last search.
func (c *State) Marks(at view.Rect) []view.MarkedRow {
	var out []view.MarkedRow
	if !c.selecting {
		for _, hit := range c.shown(at.H) {
			out = append(out, c.shifted(hit))
		}
		return out
	}
	from, to := c.span()
	for line := max(from.Line, c.Top); line <= min(to.Line, c.Top+at.H-1); line++ {
		row := view.MarkedRow{Y: line - c.Top, From: c.Left, To: c.Left + at.W}
		if line == from.Line || c.shape == shapeBlock {
			row.From = from.X
		}
		if line == to.Line || c.shape == shapeBlock {
			row.To = to.X + 1
		}
		out = append(out, c.shifted(row))
	}
	return out
}

// shifted turns columns of the screen into columns of the view.
func (c *State) shifted(row view.MarkedRow) view.MarkedRow {
	row.From, row.To = max(0, row.From-c.Left), max(0, row.To-c.Left)
	return row
}

// ShownCursor returns the cursor of copy mode in a view, or nil when it is outside of the
// view or on the line of the search.
func (c *State) ShownCursor(at view.Rect) *term.Cursor {
	x, y := c.Cursor.X-c.Left, c.Cursor.Line-c.Top
	if c.Searching || y < 0 || y >= at.H || x < 0 || x >= at.W {
		return nil
	}
	return &term.Cursor{X: at.X + x, Y: at.Y + y, Visible: true, Shape: term.CursorBlock}
}
