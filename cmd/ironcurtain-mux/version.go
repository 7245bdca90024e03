package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  ironcurtain-mux version
  ironcurtain-mux version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return fail("print the version", printJSON(cmd.OutOrStdout(), b), "")
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ironcurtain-mux %s (%s, %s)\n", b.Version, b.Go, b.Platform)
			return fail("print the version", err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
