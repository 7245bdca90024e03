package main

import "github.com/spf13/cobra"

// resumeCommand opens the multiplexer with an earlier session in its first tab.
func resumeCommand() *cobra.Command {
	var flags muxFlags
	return &cobra.Command{
		Use:   "resume ID",
		Short: "Open the multiplexer and continue an earlier session",
		Long: `Open the multiplexer with an earlier session in its first tab: the same agent in the
same workspace, continuing its own conversation. The beginning of the id is enough. It is the same as 'ironcurtain-mux --resume ID'.`,
		Example: "  ironcurtain-mux sessions resume 6f1c",
		Args:    oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.resume = args[0]
			return openMux(cmd, flags)
		},
	}
}
