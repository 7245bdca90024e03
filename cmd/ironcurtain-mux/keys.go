package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
)

// keysCommand prints every key and command of the multiplexer, for the keys
// that config.json names.
func keysCommand() *cobra.Command {
	var builtin bool
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "Print the keys and commands of the multiplexer, as Markdown",
		Example: "  ironcurtain-mux keys | less",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var c config.Config
			if !builtin {
				var err error
				if _, c, err = wiring.LoadConfig(); err != nil {
					return err
				}
			}
			text, err := tui.Reference(c.CommandKey, c.Prefix, c.Keys)
			if err != nil {
				return cli.Fail("list keys", err, "")
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&builtin, "default", false, "print the defaults, without config.json")
	return cmd
}
