package wiring

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
)

// ownAgent returns how the built-in agent is started. If its program is not installed, opening a
// session reports that.
func ownAgent() broker.OwnAgent {
	return broker.OwnAgent{Find: findOwnAgent, OnTerminal: onTerminal}
}

// findOwnAgent is called for each session, because a daemon may have started before the programs
// were installed.
func findOwnAgent() (string, error) {
	if _, err := codemode.Find(); err != nil {
		return "", err
	}
	return helper.Find()
}

func onTerminal(ctx context.Context, argv, env []string, cols, rows int, files ...*os.File) (broker.HostTerminal, error) {
	p, err := pty.StartRaw(ctx, argv, env, "/", cols, rows, files...)
	if err != nil {
		return nil, err // a nil *pty.Program would be a non-nil HostTerminal
	}
	return p, nil
}
