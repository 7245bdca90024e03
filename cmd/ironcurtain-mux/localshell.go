package main

import (
	"context"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
)

// insideVariable is set in shells of the multiplexer. A view of the multiplexer there would show
// itself.
const insideVariable = "IRONCURTAIN_INSIDE"

// startShell starts the person's own shell, with the person's environment, on a terminal of
// its own.
func startShell(ctx context.Context, dir string, cols, rows int) (broker.HostTerminal, error) {
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	var env []string
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS":
		default:
			env = append(env, variable)
		}
	}
	env = append(env, "TERM=xterm-256color", "COLORTERM=truecolor", insideVariable+"=1")
	shellOnTerminal, err := pty.Start(ctx, []string{shell}, env, dir, cols, rows)
	if err != nil {
		return nil, err // a nil *pty.Program would be no nil terminal
	}
	return shellOnTerminal, nil
}
