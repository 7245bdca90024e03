package policies

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

func policyExplainCommand() *cobra.Command {
	var flags Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain SERVER TOOL [ARGUMENTS]",
		Short: "Explain the verdict on one call",
		Long: `Judge one call and print the verdict, how each value was judged, and how each rule
applied to it. ARGUMENTS is a JSON object.`,
		Example: `  ironcurtain-mux policy explain --sandbox ~/project filesystem write_file '{"path":"/etc/hosts","content":""}'
  ironcurtain-mux policy explain --sandbox ~/project --json git git_push`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return cli.Usagef("give a server, a tool and, if it has any, the arguments as JSON")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := flags.Engine("policy explain")
			if err != nil {
				return err
			}
			c := policy.Call{Server: args[0], Tool: args[1]}
			if len(args) == 3 {
				c.Arguments = json.RawMessage(args[2])
			}
			x := e.Explain(c)
			if asJSON {
				return cli.Fail("policy explain", cli.PrintJSON(cmd.OutOrStdout(), explanationJSON(x)), "")
			}
			return cli.Fail("policy explain", printExplanation(cmd.OutOrStdout(), x), "")
		},
	}
	flags.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func explanationJSON(x policy.Explanation) map[string]any {
	rules := []map[string]any{}
	for _, role := range x.Roles {
		for _, r := range role.Rules {
			rules = append(rules, map[string]any{
				"role": role.Role, "rule": r.Rule, "then": r.Then, "applied": r.Applied, "obstacle": r.Obstacle,
			})
		}
	}
	v := x.Verdict
	if v.Trace == nil {
		v.Trace = []policy.Step{}
	}
	out := map[string]any{"decision": v.Decision, "rule": v.Rule, "reason": v.Reason, "trace": v.Trace, "rules": rules}
	if v.Arguments != nil {
		out["arguments"] = v.Arguments
	}
	return out
}

func printExplanation(w io.Writer, x policy.Explanation) error {
	v := x.Verdict
	_, err := fmt.Fprintf(w, "%s by %s: %s\n", v.Decision, v.Rule, v.Reason)
	if v.Arguments != nil {
		fmt.Fprintf(w, "forwarded: %s\n", jsonx.ASCII(v.Arguments))
	}
	for _, s := range v.Trace {
		fmt.Fprintf(w, "  %-20s %-20s %s\n    %s by %s\n", s.Argument, s.Role, s.Value, s.Decision, s.Rule)
	}
	for _, role := range x.Roles {
		about := string(role.Role)
		if about == "" {
			about = "the call"
		}
		fmt.Fprintf(w, "rules for %s:\n", about)
		for _, r := range role.Rules {
			mark, why := "-", r.Obstacle
			if r.Applied {
				mark, why = "+", "decides"
				if r.Values > 0 {
					why = fmt.Sprintf("decides %d of the values", r.Values)
				}
			}
			fmt.Fprintf(w, "  %s %s (%s): %s\n", mark, r.Rule, r.Then, why)
		}
	}
	return err
}
