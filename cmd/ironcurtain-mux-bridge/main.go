// Command ironcurtain-mux-bridge runs in an agent's container. It carries the agent's two
// ways out to the host and has no secret. It is embedded in ironcurtain-mux, which mounts
// it; people do not run it.
//
//	ironcurtain-mux-bridge run -- COMMAND [ARGUMENT...]   open the way to the model, become the agent
//	ironcurtain-mux-bridge proxy                          carry connections to the MITM proxy, and from the host to ports
//	ironcurtain-mux-bridge mcp                            carry MCP to the host's tools
//	ironcurtain-mux-bridge dpkg OPTION...                 unpack packages for apt
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/dpkg"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "ironcurtain-mux-bridge: %v\n", err)
		os.Exit(1)
	}
}

// command carries out one command line. "run" returns only when it fails.
func command(args []string) error {
	switch {
	case len(args) > 2 && args[0] == "run" && args[1] == "--":
		return run(args[2:])
	case len(args) == 1 && args[0] == "proxy":
		return untilSignal(proxy)
	case len(args) == 1 && args[0] == "mcp":
		return untilSignal(tools)
	case len(args) > 1 && args[0] == "dpkg":
		return untilSignal(func(ctx context.Context) error {
			return dpkg.New(agent.AptDir).Command(ctx, args[1:], os.Stdin, os.Stdout)
		})
	}
	return errors.New("usage: ironcurtain-mux-bridge run -- COMMAND [ARGUMENT...] | proxy | mcp | dpkg OPTION...")
}

func untilSignal(f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return f(ctx)
}

// run compares the mounts with the files that the host has checked, opens the way to the
// model, and becomes the agent argv, the main process of its container.
func run(argv []string) error {
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
	env := os.Environ()
	if os.Getenv("APT_CONFIG") != "" {
		packages := dpkg.New(agent.AptDir)
		env = packages.Environment(env)
		if err := packages.Prepare(); err != nil {
			fmt.Fprintf(os.Stderr, "ironcurtain-mux-bridge: apt installs nothing: %v\n", err)
		}
	}
	return fmt.Errorf(op+": %w", bridge.Run(agent.ProxyAddress, []string{self, "proxy"}, argv, env))
}

// proxy carries the agent's connections to the host's socket, and the host's to ports of the
// container, until ctx ends. It inherits its listener from run.
func proxy(ctx context.Context) error {
	listener, err := bridge.Inherited()
	if err != nil {
		return fmt.Errorf("open the way to the model: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var ports sync.WaitGroup
	defer ports.Wait()
	defer cancel()
	ports.Go(func() { bridge.Ports(ctx, agent.PortsSocket) })
	if err := bridge.Proxy(ctx, listener, agent.ProxySocket); err != nil {
		return fmt.Errorf("carry connections: %w", err)
	}
	return nil
}

// tools carries MCP between standard input and output and the host's socket.
func tools(ctx context.Context) error {
	if err := bridge.MCP(ctx, os.Stdin, os.Stdout, agent.ToolSocket); err != nil {
		return fmt.Errorf("carry tool calls: %s: %w", agent.ToolSocket, err)
	}
	return nil
}
