package tui

import (
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// hinted is an error of this package that knows what to do next.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// Hint is the next thing to do.
func (h *hinted) Hint() string { return h.hint }

// errStay leaves the command on the line without complaining: the person goes on
// with it once something is there to see.
var errStay = errors.New("not yet")

// explain turns an error into one safe line: what happened and, when somebody
// knows, what to do next.
func explain(err error) string {
	text := view.Sanitize(err.Error())
	if next := fault.Hint(err); next != "" {
		text += " (" + view.Sanitize(next) + ")"
	}
	return text
}
