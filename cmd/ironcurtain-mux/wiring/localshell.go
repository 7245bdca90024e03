package wiring

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
)

// InsideVariable is set in the multiplexer's own shells. A view in such a shell would show itself.
const InsideVariable = "IRONCURTAIN_INSIDE"

// startShell starts the person's own shell on a terminal of its own, with the environment in which
// the tab was opened. A nil environment means this process's own.
func startShell(ctx context.Context, environment []string, dir string, cols, rows int) (broker.HostTerminal, error) {
	if environment == nil {
		environment = os.Environ()
	}
	shell := "/bin/sh"
	var env []string
	for _, variable := range environment {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS":
		case "SHELL":
			shell = cmp.Or(value, shell)
			env = append(env, variable)
		default:
			env = append(env, variable)
		}
	}
	env = append(env, "TERM=xterm-256color", "COLORTERM=truecolor", InsideVariable+"=1")
	shellOnTerminal, err := pty.Start(ctx, []string{shell}, env, dir, cols, rows)
	if err != nil {
		return nil, err // a nil *pty.Program would be a non-nil HostTerminal
	}
	return shellOnTerminal, nil
}
