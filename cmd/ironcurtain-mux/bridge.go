package main

import (
	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/early"
)

// bridgeCommand is the part of the program that runs in containers. People have
// no use for it, and containers do not come as far as here: see package early.
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
		Use:     early.RunCommand + " -- COMMAND [ARGUMENT...]",
		Short:   "Open the way to the model and become the agent",
		Example: "  ironcurtain-mux bridge run -- bash -i",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return early.Run(args) },
	}
}

// bridgeProxyCommand carries the agent's connections to its model.
func bridgeProxyCommand() *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:     early.ProxyCommand,
		Short:   "Carry connections to the MITM proxy, from the listener that is descriptor 3",
		Example: "  ironcurtain-mux bridge proxy 3<&0",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return early.Proxy(cmd.Context(), socket) },
	}
	cmd.Flags().StringVar(&socket, "socket", agent.ProxySocket, "socket of the host")
	return cmd
}

// bridgeToolsCommand carries MCP between an agent and the host.
func bridgeToolsCommand() *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:     early.ToolsCommand,
		Short:   "Carry MCP between standard input and output and the host's tools",
		Example: "  ironcurtain-mux bridge mcp",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return early.Tools(cmd.Context(), socket) },
	}
	cmd.Flags().StringVar(&socket, "socket", agent.ToolSocket, "socket of the host")
	return cmd
}
