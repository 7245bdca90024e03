package copymode

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Outcome is what the model has to do after a key in copy mode.
type Outcome uint8

// The outcomes of a key.
const (
	Stay     Outcome = iota // nothing
	Leave                   // leave copy mode
	Yank                    // copy the selection and leave copy mode
	Edit                    // open the scrollback in an editor at the cursor
	NoPrompt                // say that there is no further prompt
	NoQuery                 // say that nothing was searched for yet
	NotFound                // say that the query was not found
)

// Key handles a key in copy mode, in the view at.
func (c *State) Key(k *input.Keys, name, text string, at view.Rect) Outcome {
	if c.Searching {
		return c.searchKey(k, name, text)
	}
	c.cols, c.rows = at.W, at.H
	c.Renumber()
	a := k.At(input.PlaceCopy, name)
	switch a {
	case input.ActLeave:
		switch {
		case name == "enter" && c.selecting:
			return Yank
		case name == "esc" && c.selecting:
			c.selecting = false
			return Stay
		}
		return Leave
	case input.ActCopyYank:
		return Yank
	case input.ActCopyEdit:
		return Edit
	case input.ActCopySearch, input.ActCopySearchB:
		c.beginSearch(a == input.ActCopySearchB)
	case input.ActCopyNext:
		return c.next(c.Backward)
	case input.ActCopyPrev:
		return c.next(!c.Backward)
	case input.ActCopyPrompt, input.ActCopyPromptB:
		if !c.toPrompt(a == input.ActCopyPromptB) {
			return NoPrompt
		}
	default:
		c.act(a)
	}
	return Stay
}
