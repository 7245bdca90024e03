package policies

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

func judged(v policy.Verdict) judgment {
	return judgment{Decision: string(v.Decision), Rule: v.Rule, Reason: v.Reason, forward: string(v.Arguments)}
}

func policyTestCommand() *cobra.Command {
	var flags Flags
	cmd := &cobra.Command{
		Use:   "test SCENARIOS",
		Short: "Judge scenarios and compare with the decisions they expect",
		Long: `Read a file of scenarios, each with a request and the decision it expects, and print
those that get another decision. Exits 1 if there are any.`,
		Example: `  ironcurtain-mux policy test --sandbox ~/project test-scenarios.json
  ironcurtain-mux policy test --sandbox ~/project --policy compiled-policy.json test-scenarios.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := flags.Engine("policy test")
			if err != nil {
				return err
			}
			scenarios, err := policy.LoadScenarios(args[0])
			if err != nil {
				return cli.Fail("policy test", err, "")
			}
			failed := 0
			for i, s := range scenarios {
				v := e.Evaluate(s.Call)
				if s.Met(v.Decision) {
					continue
				}
				failed++
				fmt.Fprintf(cmd.OutOrStdout(), "scenario %d (%q): expected %s, got %s by %s: %s\n",
					i+1, s.Description, s.Expected, v.Decision, v.Rule, v.Reason)
			}
			if failed > 0 {
				return cli.Fail("policy test", fmt.Errorf("%d of %d scenarios got another decision", failed, len(scenarios)),
					"'ironcurtain-mux policy explain' explains a verdict")
			}
			return nil
		},
	}
	flags.Register(cmd)
	return cmd
}
