package main

import (
	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// resumeCommand opens the multiplexer with an earlier session in its first tab.
func resumeCommand() *cobra.Command {
	var flags wiring.TabFlags
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Open the multiplexer and continue an earlier session",
		Long: `Open the multiplexer with an earlier session in its first tab: the same agent in the
same workspace, which continues its conversation. The beginning of the id is enough.
'ironcurtain-mux --resume ID' does the same.`,
		Example: "  ironcurtain-mux sessions resume 6f1c",
		Args:    sessions.OneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.Resume = args[0]
			return openMux(cmd, flags)
		},
	}
	flags.Engine.Register(cmd)
	return cmd
}
