package wiring

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
)

// ownAgent is how the built-in agent is started. Where its program is not installed, sessions
// of it say so.
func ownAgent() broker.OwnAgent {
	return broker.OwnAgent{Find: findOwnAgent, OnTerminal: onTerminal}
}

// findOwnAgent looks each time: a daemon may have started before the programs were installed.
func findOwnAgent() (string, error) {
	if _, err := codemode.Find(); err != nil {
		return "", err
	}
	return helper.Find()
}

func onTerminal(ctx context.Context, argv, env []string, cols, rows int, files ...*os.File) (broker.HostTerminal, error) {
	p, err := pty.StartRaw(ctx, argv, env, "/", cols, rows, files...)
	if err != nil {
		return nil, err // a nil *pty.Program would be no nil terminal
	}
	return p, nil
}
