// Command ironcurtain-mux-bridge runs in an agent's container. It carries the agent's two
// ways out to the host and has no secret. It is embedded in ironcurtain-mux, which mounts
// it; people do not run it.
//
//	ironcurtain-mux-bridge run -- COMMAND [ARGUMENT...]   open the way to the model, become the agent
//	ironcurtain-mux-bridge keep -- COMMAND [ARGUMENT...]  run the agent where the host's sockets do not lead into the container
//	ironcurtain-mux-bridge carry                          carry all that to the host, over standard input and output
//	ironcurtain-mux-bridge proxy                          carry connections to the MITM proxy, and from the host to ports
//	ironcurtain-mux-bridge mcp                            carry MCP to the host's tools
//	ironcurtain-mux-bridge dpkg OPTION...                 unpack packages for apt
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/dpkg"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
)

func main() {
	code, err := command(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "ironcurtain-mux-bridge: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// command carries out one command line and returns the exit code. "run" returns only when it
// fails.
func command(args []string) (code int, err error) {
	if len(args) > 2 && args[0] == "keep" && args[1] == "--" {
		return keep(args[2:])
	}
	return 0, plain(args)
}

// plain carries out a command whose exit code says no more than its error.
func plain(args []string) error {
	switch {
	case len(args) > 2 && args[0] == "run" && args[1] == "--":
		return run(args[2:])
	case len(args) == 1 && args[0] == "carry":
		return untilSignal(func(ctx context.Context) error { return bridge.Carry(ctx, agent.CarrierSocket) })
	case len(args) == 1 && args[0] == "proxy":
		return untilSignal(proxy)
	case len(args) == 1 && args[0] == "mcp":
		return untilSignal(tools)
	case len(args) > 1 && args[0] == "dpkg":
		return untilSignal(func(ctx context.Context) error {
			return dpkg.New(agent.AptDir).Command(ctx, args[1:], os.Stdin, os.Stdout)
		})
	}
	return errors.New("usage: ironcurtain-mux-bridge run -- COMMAND [ARGUMENT...] | keep -- COMMAND [ARGUMENT...] | carry | proxy | mcp | dpkg OPTION...") //nolint:revive,staticcheck // the dots belong to the syntax
}

func untilSignal(f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return f(ctx)
}

// run opens the way to the model, and becomes the agent argv, the main process of its
// container.
func run(argv []string) error {
	const op = "start the agent"
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	mounts := bridge.TakeMounts()
	if err := bridge.Report(context.Background(), agent.ReportSocket, bridge.Look); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	env, err := prepare(mounts)
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	return fmt.Errorf(op+": %w", bridge.Run(agent.ProxyAddress, []string{self, "proxy"}, argv, env))
}

// prepare compares the mounts with the files that the host has checked, goes to the
// workspace, and returns the environment of the agent.
func prepare(mounts string) (env []string, err error) {
	if err := bridge.CheckMounts(mounts); err != nil {
		return nil, err
	}
	if err := os.Chdir(agent.Workspace); err != nil {
		return nil, err
	}
	env = os.Environ()
	if os.Getenv("APT_CONFIG") != "" {
		packages := dpkg.New(agent.AptDir)
		env = packages.Environment(env)
		if err := packages.Prepare(); err != nil {
			fmt.Fprintf(os.Stderr, "ironcurtain-mux-bridge: apt installs nothing: %v\n", err)
		}
	}
	return env, nil
}

// keepGarbage is how much garbage the keeper collects before it is removed, in percent of what
// is used: little, as the keeper shares the container's memory with the agent.
const keepGarbage = 20

// keep runs the agent argv for a host that comes by carriers. It is the main process of the
// container, and opens the way to the model itself.
func keep(argv []string) (code int, err error) {
	debug.SetGCPercent(keepGarbage)
	if err := os.MkdirAll(agent.KeptSockets, 0o700); err != nil {
		return 1, fmt.Errorf("open the ways to the host: %w", err)
	}
	listener, err := net.Listen("tcp4", agent.ProxyAddress) //nolint:noctx // binding a number does not wait
	if err != nil {
		return 1, fmt.Errorf("open the way to the model: %w", err)
	}
	defer listener.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	mounts := bridge.TakeMounts()
	code, err = bridge.Keep{
		Argv:     argv,
		Carriers: agent.CarrierSocket,
		Ways:     bridge.Ways{Tools: found(agent.ToolSocket), Model: found(agent.ProxySocket), Ports: found(agent.PortsSocket)},
		Tokens:   []string{agent.Home, agent.Workspace},
		Look:     bridge.Look,
		Prepare: func() ([]string, error) {
			if err := bridge.Hide(); err != nil { // its environment has the mounts
				return nil, err
			}
			return prepare(mounts)
		},
		Serve:   func(ctx context.Context) error { return serve(ctx, listener) },
		Signals: signals,
		Files:   treesync.NewServer(trees()),
	}.Run(context.Background())
	if err != nil {
		return 1, fmt.Errorf("keep the agent: %w", err)
	}
	return code, nil
}

// trees are the directories that the host keeps equal to its own where the engine does not see
// those, by the names that the host has for them.
func trees() map[string]string {
	all := map[string]string{
		"home": agent.Home, "workspace": agent.Workspace, "orientation": agent.Orientation, "attachments": agent.Attachments,
	}
	if info, err := os.Stat(agent.Objects); err == nil && info.IsDir() {
		all["objects"] = agent.Objects
	}
	return all
}

// found is where a socket of the host's is found: where the keeper listens in the host's place, if
// there is one, else where it is mounted.
func found(socket string) string {
	if _, err := os.Stat(agent.KeptSockets); err != nil {
		return socket
	}
	return filepath.Join(agent.KeptSockets, filepath.Base(socket))
}

// proxy carries the agent's connections, on a listener that it inherits from run.
func proxy(ctx context.Context) error {
	listener, err := bridge.Inherited()
	if err != nil {
		return fmt.Errorf("open the way to the model: %w", err)
	}
	return serve(ctx, listener)
}

// serve carries the agent's connections to the host's socket, and the host's to ports of the
// container, until ctx ends.
func serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var ports sync.WaitGroup
	defer ports.Wait()
	defer cancel()
	ports.Go(func() { bridge.Ports(ctx, found(agent.PortsSocket)) })
	if err := bridge.Proxy(ctx, listener, found(agent.ProxySocket)); err != nil {
		return fmt.Errorf("carry connections: %w", err)
	}
	return nil
}

// tools carries MCP between standard input and output and the host's socket.
func tools(ctx context.Context) error {
	socket := found(agent.ToolSocket)
	if err := bridge.MCP(ctx, os.Stdin, os.Stdout, socket); err != nil {
		return fmt.Errorf("carry tool calls: %s: %w", socket, err)
	}
	return nil
}
