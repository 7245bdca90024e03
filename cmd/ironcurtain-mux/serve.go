package main

import (
	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// serveFetchCommand runs the server of the tool http_fetch.
func serveFetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "fetch",
		Hidden: true,
		Short:  "Serve http_fetch: a web page as text",
		Long: `Serve one tool, http_fetch, over MCP. The server has no network of its own: it
asks the tool proxy for the web request of each call, and the proxy judges every
redirect. An mcp-servers.json names it as in the example below.`,
		Example: `  {"fetch": {"command": "ironcurtain-mux", "args": ["serve", "fetch"], "sandbox": {"network": {"judged": true}}}}`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Fail("serve fetch", fetch.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()), "")
		},
	}
}
