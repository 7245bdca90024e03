// Package early is the bridge as commands of this program. Importing it makes
// "bridge run", "bridge proxy" and "bridge mcp" begin before the rest of the program
// has been set up: each container runs the first two while somebody waits for its
// tab, and they need next to nothing of what the program is made of. The Go runtime
// sets packages up as soon as what they import is ready, and those with few imports
// become ready first. This package imports little for that reason.
package early

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
)

// The commands below "bridge".
const (
	RunCommand   = "run"
	ProxyCommand = "proxy"
	ToolsCommand = "mcp"
)

// init becomes the bridge when the command line is one that a container uses.
// Others, with flags or mistakes, are left to the program's own parser.
func init() {
	if len(os.Args) < 3 || os.Args[1] != "bridge" {
		return
	}
	var err error
	switch command, rest := os.Args[2], os.Args[3:]; {
	case command == RunCommand && len(rest) > 1 && rest[0] == "--":
		err = Run(rest[1:])
	case command == ProxyCommand && len(rest) == 0:
		err = untilSignal(func(ctx context.Context) error { return Proxy(ctx, agent.ProxySocket) })
	case command == ToolsCommand && len(rest) == 0:
		err = untilSignal(func(ctx context.Context) error { return Tools(ctx, agent.ToolSocket) })
	default:
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ironcurtain-mux: %v\n", err)
		os.Exit(1) //nolint:forbidigo // the program is this and nothing more
	}
	os.Exit(0) //nolint:forbidigo // the program is this and nothing more
}

func untilSignal(f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return f(ctx)
}

// Run compares the mounts with what the host has looked at, opens the way to the
// model and becomes the agent argv, the main process of its container. It returns
// only when it fails.
func Run(argv []string) error {
	const op = "start the agent"
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	if err := bridge.CheckMounts(bridge.TakeMounts()); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	if err := os.Chdir(agent.Workspace); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	return fmt.Errorf(op+": %w", bridge.Run(agent.ProxyAddress, []string{self, "bridge", ProxyCommand}, argv))
}

// Proxy carries the agent's connections to the host's socket until ctx ends, from
// the listener that Run left to this process.
func Proxy(ctx context.Context, socket string) error {
	beSmall()
	listener, err := bridge.Inherited()
	if err != nil {
		return fmt.Errorf("open the way to the model: %w", err)
	}
	if err := bridge.Proxy(ctx, listener, socket); err != nil {
		return fmt.Errorf("carry connections: %w", err)
	}
	return nil
}

// Tools carries MCP between standard input and output and the host's socket.
func Tools(ctx context.Context, socket string) error {
	beSmall()
	if err := bridge.MCP(ctx, os.Stdin, os.Stdout, socket); err != nil {
		return fmt.Errorf("carry tool calls: %s: %w", socket, err)
	}
	return nil
}

// beSmall keeps a process that only carries bytes from taking memory and
// processors that belong to the agent.
func beSmall() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
}
