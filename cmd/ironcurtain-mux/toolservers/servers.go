package toolservers

import (
	"github.com/spf13/cobra"
)

// Command groups the commands for the person's own MCP servers.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "Import MCP servers from other agents, and log in to them",
		Long: `Manage MCP servers of your own: mcpServers in config.json. Every tab has them;
/servers in a tab shows their states, and which of them need a login (OAuth). Tabs use
and renew a login; no tab begins one by itself.`,
		Example: `  ironcurtain-mux servers import
  ironcurtain-mux servers login board
  ironcurtain-mux servers logout board`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	more := ""
	for _, sub := range []*cobra.Command{serversLoginCommand(&more), serversLogoutCommand(&more)} {
		sub.Flags().StringVar(&more, "servers", "", "`file` that names more servers")
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(serversImportCommand())
	return cmd
}
