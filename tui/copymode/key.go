package copymode

import (
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Outcome is what the model has to do after a key in copy mode.
type Outcome uint8

const (
	Stay     Outcome = iota // nothing
	Leave                   // leave copy mode
	Yank                    // copy the selection and leave copy mode
	Edit                    // open the scrollback in an editor at the cursor
	NoPrompt                // say that there is no further prompt
	NoQuery                 // say that nothing was searched for yet
	NotFound                // say that the query was not found
)

// Key handles a key in copy mode, in a view of a size.
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
		c.Searching, c.Backward = true, a == input.ActCopySearchB
		c.Line = input.Line{}
	case input.ActCopyNext:
		return c.search(c.Backward)
	case input.ActCopyPrev:
		return c.search(!c.Backward)
	case input.ActCopyPrompt, input.ActCopyPromptB:
		if !c.toPrompt(a == input.ActCopyPromptB) {
			return NoPrompt
		}
	default:
		c.act(a)
	}
	return Stay
}

// searchKey handles a key while a query is typed.
func (c *State) searchKey(k *input.Keys, name, text string) Outcome {
	switch a := k.At(input.PlaceCommand, name); {
	case a == input.ActLeave || name == "ctrl+c":
		c.Searching = false
	case a == input.ActEnter:
		c.Searching = false
		if !c.Line.Empty() {
			c.Query = c.Line.Text()
		}
		return c.search(c.Backward)
	case a == input.ActBackspace && c.Line.Empty():
		c.Searching = false
	case a != "":
		c.Line.Edit(a)
	case text != "" && strings.IndexFunc(text, unicode.IsControl) < 0:
		c.Line.Insert(text, false)
	}
	return Stay
}

// search goes to the next match and continues at the other end of the lines. The search
// is case-sensitive only when the query has capital letters.
func (c *State) search(backward bool) Outcome {
	if c.Query == "" {
		return NoQuery
	}
	to, ok := c.find(backward)
	if !ok {
		return NotFound
	}
	c.Cursor = to
	c.follow()
	return Stay
}
