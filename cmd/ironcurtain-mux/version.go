package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version that the build was given; see LDFLAGS in the Makefile.
var release string

// build describes the program itself.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild returns the version that the build was given. Without one it returns what the
// Go tool recorded: the module's version if that was installed, or the commit of a
// checkout.
func thisBuild() build {
	b := build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if b.Version != "" || !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (b.Version == "" || b.Version == "(devel)") {
			b.Version = s.Value
		}
	}
	return b
}

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
