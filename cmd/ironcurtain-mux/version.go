package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
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
			b := cli.ThisBuild()
			if asJSON {
				return cli.Fail("print the version", cli.PrintJSON(cmd.OutOrStdout(), b), "")
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ironcurtain-mux %s (%s, %s)\n", b.Version, b.Go, b.Platform)
			return cli.Fail("print the version", err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
