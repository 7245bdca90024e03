package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// manDate is the date in the manual pages. It is the month of the text and not of the
// build, so that the same text always gives the same pages.
var manDate = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

// manCommand writes the manual pages. It is hidden: only packagers and
// "make generate" need it.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages into a directory",
		Example: "  ironcurtain-mux man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Date: &manDate, Source: "ironcurtain-mux", Manual: "IronCurtain"}
			return cli.Fail("write the manual pages", doc.GenManTree(root, header, args[0]), "the directory must exist and be writable")
		},
	}
}
