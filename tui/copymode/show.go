package copymode

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Hints returns what the status line says in copy mode: where the cursor is, and keys.
func (c *State) Hints(k *input.Keys) []string {
	where := fmt.Sprintf("copy line %d/%d", c.Cursor.Line+1, c.total())
	if c.Searching {
		return input.NonEmpty(where, k.Hint(input.PlaceCommand, input.ActEnter, "searches"), k.Hint(input.PlaceCommand, input.ActLeave, "back"))
	}
	if c.selecting {
		return input.NonEmpty(where, k.Hint(input.PlaceCopy, input.ActCopyYank, "copies"), "Esc drops the selection")
	}
	return input.NonEmpty(where, k.Hint(input.PlaceCopy, input.ActCopySelect, "selects"), k.Hint(input.PlaceCopy, input.ActCopySearch, "searches"),
		k.Hint(input.PlaceCopy, input.ActCopyEdit, "edits"), k.Hint(input.PlaceCopy, input.ActLeave, "leaves"))
}

// Marks returns the highlighted cells of a view: the selection or, without one, the
// matches of the last search.
func (c *State) Marks(at view.Rect) []view.MarkedRow {
	if !c.selecting {
		return c.hits(at.H)
	}
	var out []view.MarkedRow
	from, to := c.span()
	for line := max(from.Line, c.Top); line <= min(to.Line, c.Top+at.H-1); line++ {
		row := view.MarkedRow{Y: line - c.Top, From: 0, To: at.W}
		if line == from.Line {
			row.From = from.X
		}
		if line == to.Line {
			row.To = to.X + 1
		}
		out = append(out, row)
	}
	return out
}

// ShownCursor returns the cursor of copy mode in a view, or nil when it is outside of the
// view or on the line of the search.
func (c *State) ShownCursor(at view.Rect) *term.Cursor {
	y := c.Cursor.Line - c.Top
	if c.Searching || y < 0 || y >= at.H || c.Cursor.X >= at.W {
		return nil
	}
	return &term.Cursor{X: at.X + c.Cursor.X, Y: at.Y + y, Visible: true, Shape: term.CursorBlock}
}
