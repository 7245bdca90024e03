package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// configCommand shows, locates and checks config.json.
func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show, locate or check the configuration",
		Example: "  ironcurtain-mux config show\n  ironcurtain-mux config show --schema\n  ironcurtain-mux config check",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configShowCommand(), configPathCommand(), configCheckCommand())
	return cmd
}

func configShowCommand() *cobra.Command {
	var printSchema, builtin bool
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Print the configuration in force",
		Example: "  ironcurtain-mux config show\n  ironcurtain-mux config show --default > ~/.ironcurtain/config.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printSchema {
				text, err := schema()
				if err != nil {
					return cli.Fail("print schema", err, "")
				}
				_, err = cmd.OutOrStdout().Write(text)
				return err
			}
			c := config.Default()
			if !builtin {
				var err error
				if _, c, err = wiring.LoadConfig(); err != nil {
					return err
				}
			}
			enc := json.NewEncoder(cli.ASCIIWriter{To: cmd.OutOrStdout()})
			enc.SetIndent("", "  ")
			return enc.Encode(c)
		},
	}
	cmd.Flags().BoolVar(&printSchema, "schema", false, "print the JSON Schema of config.json instead")
	cmd.Flags().BoolVar(&builtin, "default", false, "print the defaults, without config.json")
	cmd.MarkFlagsMutuallyExclusive("schema", "default")
	return cmd
}

func configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the path of config.json",
		Example: "  $EDITOR \"$(ironcurtain-mux config path)\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), p.ConfigFile())
			return err
		},
	}
}

func configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Check config.json; silent when it is right",
		Example: "  ironcurtain-mux config check && echo fine",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			return p.CheckConfig()
		},
	}
}
