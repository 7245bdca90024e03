package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Rights are what the person may do in a view.
type Rights uint8

// The rights of a view.
const (
	Operate Rights = iota // everything
	See                   // look at everything, and change nothing but this view
)

// harmless are the commands that change nothing but the view. A command that is not named here
// needs the right to operate.
var harmless = map[string]bool{
	"diff": true, "log": true, "undo": true, "history": true, "grants": true, "budget": true, "servers": true,
	"tab": true, "next": true, "prev": true, "last": true, "move": true,
	"split": true, "unsplit": true, "zoom": true, "focus": true, "copy": true,
	"theme": true, "mute": true, "help": true, "detach": true,
}

// may reports whether the person may change anything but the view. Whatever does so asks here.
func (m *Model) may() bool { return m.o.Rights == Operate }

// errReadOnly says that something is not for this view.
func errReadOnly(what string) error {
	return fault.New("attach without --read-only", "%s: this view is read-only", what)
}

// runCommand runs a slash command, if the person may.
func (m *Model) runCommand(c command, args string) (tea.Cmd, error) {
	if !m.may() && !harmless[c.name] {
		return nil, errReadOnly("/" + c.name)
	}
	return c.run(m, args)
}
