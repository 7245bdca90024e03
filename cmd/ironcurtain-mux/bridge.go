package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
)

// bridgeCommand is the part of the program that runs in containers. People have
// no use for it.
func bridgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bridge",
		Short:   "Carry an agent's ways out to the host; runs in containers",
		Example: "  ironcurtain-mux bridge run -- bash",
		Args:    cobra.NoArgs,
		Hidden:  true,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bridgeRunCommand(), bridgeProxyCommand(), bridgeToolsCommand())
	return cmd
}

// bridgeRunCommand becomes an agent, the main process of its container.
func bridgeRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "run -- COMMAND [ARGUMENT...]",
		Short:   "Open the way to the model and become the agent",
		Example: "  ironcurtain-mux bridge run -- bash -i",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			const op = "start the agent"
			self, err := os.Executable()
			if err != nil {
				return fail(op, err, "")
			}
			if err := os.Chdir(agent.Workspace); err != nil {
				return fail(op, err, "")
			}
			return fail(op, bridge.Run(agent.ProxyAddress, []string{self, "bridge", "proxy"}, args), "")
		},
	}
}

// bridgeProxyCommand carries the agent's connections to its model.
func bridgeProxyCommand() *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:     "proxy",
		Short:   "Carry connections to the MITM proxy, from the listener that is descriptor 3",
		Example: "  ironcurtain-mux bridge proxy 3<&0",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			beSmall()
			listener, err := bridge.Inherited()
			if err != nil {
				return fail("open the way to the model", err, "it is started by 'bridge run'")
			}
			return fail("carry connections", bridge.Proxy(cmd.Context(), listener, socket), "")
		},
	}
	cmd.Flags().StringVar(&socket, "socket", agent.ProxySocket, "socket of the host")
	return cmd
}

// bridgeToolsCommand carries MCP between an agent and the host.
func bridgeToolsCommand() *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Carry MCP between standard input and output and the host's tools",
		Example: "  ironcurtain-mux bridge mcp",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			beSmall()
			err := bridge.MCP(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), socket)
			if err != nil {
				err = fmt.Errorf("%s: %w", socket, err)
			}
			return fail("carry tool calls", err, "")
		},
	}
	cmd.Flags().StringVar(&socket, "socket", agent.ToolSocket, "socket of the host")
	return cmd
}

// beSmall keeps a process that only carries bytes from taking memory and
// processors that belong to the agent.
func beSmall() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
}
