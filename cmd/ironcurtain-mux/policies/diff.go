package policies

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

func policyDiffCommand() *cobra.Command {
	var flags Flags
	var with, withAnnotations, withLists string
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "List the calls of a log that another policy would judge differently",
		Long: `Read calls like 'policy check', judge each by both policies, and print the calls whose
verdicts differ, one JSON object a line. Exits 0 even if some differ.`,
		Example: `  ironcurtain-mux policy diff --sandbox ~/project --policy old.json --with new.json < calls.jsonl
  ironcurtain-mux policy diff --sandbox ~/project --with new/ --with-annotations new/tool-annotations.json < calls.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			before, err := flags.Engine("policy diff")
			if err != nil {
				return err
			}
			changed := flags
			changed.Policy = with
			if withAnnotations != "" {
				changed.Annotations = withAnnotations
			}
			if withLists != "" {
				changed.Lists = withLists
			}
			after, err := changed.Engine("policy diff")
			if err != nil {
				return err
			}
			return eachLine(cmd.InOrStdin(), cmd.OutOrStdout(), flags.MaxCall, func(line []byte, tooLong bool) []byte {
				c, id, ok := callFrom(line)
				if tooLong || !ok {
					return nil
				}
				return flip(id, c.Server, c.Tool, judged(before.Evaluate(c)), judged(after.Evaluate(c)))
			})
		},
	}
	flags.Register(cmd)
	cmd.Flags().StringVar(&with, "with", "", "the other compiled policy; default: the shipped policy")
	cmd.Flags().StringVar(&withAnnotations, "with-annotations", "", "the other tool annotations; default: the same")
	cmd.Flags().StringVar(&withLists, "with-lists", "", "the other dynamic lists; default: the same")
	return cmd
}

// judgment is the part of a verdict that is compared.
type judgment struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	forward  string
}

// differs reports whether two policies judge a call differently. Two verdicts that allow it with
// different arguments differ, too.
func differs(before, after judgment) bool {
	return before.Decision != after.Decision || before.forward != after.forward
}

// flip describes a call that two policies judge differently. It returns nil if they do not.
func flip(id, server, tool string, before, after judgment) []byte {
	if !differs(before, after) {
		return nil
	}
	if id == "" {
		id = "null"
	}
	out, err := json.Marshal(map[string]any{
		"id": json.RawMessage(id), "server": server, "tool": tool, "before": before, "after": after,
	})
	if err != nil {
		return nil
	}
	return out
}
