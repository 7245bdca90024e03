package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/embedded"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the bridges for containers in this program",
		Example: `  ironcurtain-mux version
  ironcurtain-mux version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, bridges := cli.ThisBuild(), embedded.Digests()
			if asJSON {
				return cli.Fail("print the version", cli.PrintJSON(cmd.OutOrStdout(), struct {
					cli.Build
					Bridges map[string]string `json:"bridges"` // SHA-256, by architecture
				}{b, bridges}), "")
			}
			text := fmt.Sprintf("ironcurtain-mux %s (%s, %s)\n", b.Version, b.Go, b.Platform)
			for _, architecture := range slices.Sorted(maps.Keys(bridges)) {
				text += fmt.Sprintf("bridge for containers on %s: sha256:%s\n", architecture, bridges[architecture])
			}
			if len(bridges) == 0 {
				text += "no bridge for containers: build with 'make build'\n"
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), text)
			return cli.Fail("print the version", err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
