// Command ironcurtain-mux-bridge runs in an agent's container. It connects the agent with the host
// and has no secret. It is embedded in ironcurtain-mux, which mounts it; people do not run it.
//
//	ironcurtain-mux-bridge run -- COMMAND [ARGUMENT...]   start the model proxy, become the agent
//	ironcurtain-mux-bridge keep -- COMMAND [ARGUMENT...]  run the agent where the host's sockets do not work in the container
//	ironcurtain-mux-bridge carry                          be a carrier between keep and the host, by standard input and output
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

// command carries out a command line and returns the exit code. "run" returns only when it fails.
func command(args []string) (code int, err error) {
	if len(args) > 2 && args[0] == "keep" && args[1] == "--" {
		return keep(args[2:])
	}
	return 0, plain(args)
}

// plain carries out a command that exits with 0 unless it fails.
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

// run reports, starts the model proxy and becomes the agent argv, the main process of its container.
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

// prepare compares the mounts with the files that the host has checked, changes to the workspace, and
// returns the agent's environment.
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
			fmt.Fprintf(os.Stderr, "ironcurtain-mux-bridge: apt will not work: %v\n", err)
		}
	}
	return env, nil
}

// keepGarbage is the keeper's GOGC. It is low because the keeper shares the container's memory limit
// with the agent: after 20 MB of output the keeper has 14 MB, and 20 MB with Go's default of 100.
const keepGarbage = 20

// keep runs the agent argv for a host that connects by carriers. It is the main process of the
// container, and serves the model proxy itself.
func keep(argv []string) (code int, err error) {
	debug.SetGCPercent(keepGarbage)
	if err := os.MkdirAll(agent.KeptSockets, 0o700); err != nil {
		return 1, fmt.Errorf("listen in place of the host: %w", err)
	}
	listener, err := net.Listen("tcp4", agent.ProxyAddress) //nolint:noctx // binding a number does not wait
	if err != nil {
		return 1, fmt.Errorf("start the model proxy: %w", err)
	}
	defer listener.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	mounts := bridge.TakeMounts()
	code, err = bridge.Keep{
		Argv:     argv,
		Carriers: agent.CarrierSocket,
		Sockets:  bridge.Sockets{Tools: found(agent.ToolSocket), Model: found(agent.ProxySocket), Ports: found(agent.PortsSocket)},
		Tokens:   []string{agent.Home, agent.Workspace},
		Look:     bridge.Look,
		Prepare: func() ([]string, error) {
			if err := bridge.Hide(); err != nil { // hides the mounts in its environment from the agent
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

// trees returns the directories that the host synchronizes where files are copied, by the names of
// their trees.
func trees() map[string]string {
	all := map[string]string{
		"home": agent.Home, "workspace": agent.Workspace, "orientation": agent.Orientation, "attachments": agent.Attachments,
	}
	if info, err := os.Stat(agent.Objects); err == nil && info.IsDir() {
		all["objects"] = agent.Objects
	}
	return all
}

// found returns the path of one of the host's sockets: where the keeper listens in place of the host
// if there is a keeper, else where the socket is mounted.
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
		return fmt.Errorf("start the model proxy: %w", err)
	}
	return serve(ctx, listener)
}

// serve carries the agent's connections to the host's socket, and the host's connections to ports of
// the container, until ctx ends.
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
