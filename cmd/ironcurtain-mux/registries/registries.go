package registries

import "github.com/spf13/cobra"

// Command groups the commands for package registries.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Learn from which package registries agents install, and try packages",
		Long: `Manage the package registries from which agents install: npm, Python, Go, Cargo, apt.
The program has no registries of its own. It uses those that the tools of this machine
are configured with, or those in registries.sources of config.json.`,
		Example: `  ironcurtain-mux registry learn
  ironcurtain-mux registry learn --write
  ironcurtain-mux registry check npm:left@2.1.0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(learnCommand(), checkCommand(), logCommand(), gcCommand())
	return cmd
}
