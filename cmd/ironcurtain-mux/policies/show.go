package policies

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

func policyShowCommand() *cobra.Command {
	var flags Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the rules and the tools, and which of them have no effect",
		Example: `  ironcurtain-mux policy show --sandbox ~/project
  ironcurtain-mux policy show --sandbox ~/project --policy compiled-policy.json --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := flags.Engine("policy show")
			if err != nil {
				return err
			}
			if asJSON {
				return cli.Fail("policy show", cli.PrintJSON(cmd.OutOrStdout(), e.Summarize()), "")
			}
			return cli.Fail("policy show", printSummary(cmd.OutOrStdout(), e.Summarize()), "")
		},
	}
	flags.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printSummary(w io.Writer, s policy.Summary) error {
	_, err := fmt.Fprintf(w, "policy %s\nsandbox %s\n\nrules; for each value the first rule that applies to it decides:\n", s.Hash, s.Sandbox)
	for _, r := range s.Rules {
		fmt.Fprintf(w, "  %-9s %s: %s\n", r.Then, r.Name, r.Reason)
	}
	fmt.Fprintf(w, "\ntools:\n")
	for _, t := range s.Tools {
		fmt.Fprintf(w, "  %s/%s", t.Server, t.Tool)
		if !t.Visible {
			fmt.Fprint(w, " (always denied, not offered)")
		}
		fmt.Fprintln(w)
		for _, arg := range slices.Sorted(maps.Keys(t.Roles)) {
			if roles := t.Roles[arg]; len(roles) > 0 {
				fmt.Fprintf(w, "    %s: %s\n", arg, strings.Join(roles, ", "))
			}
		}
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	return err
}
