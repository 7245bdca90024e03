// Command eval-approver measures the automatic approval on the cases in the tree: always
// the grammar, and also a model if a provider is named. It exits with 1 if a call was
// approved about which a person must be asked.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove/evaluation"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

func main() {
	name := flag.String("provider", "", "ask a model of this provider: "+strings.Join(provider.Providers(), ", "))
	model := flag.String("model", "", "the model (default the provider's small one)")
	flag.Parse()
	if err := run(*name, *model); err != nil {
		fmt.Fprintln(os.Stderr, "eval-approver:", err)
		os.Exit(1)
	}
}

func run(name, model string) error {
	cases, err := evaluation.Load()
	if err != nil {
		return err
	}
	bad := measure("deterministic stage", cases, func(c evaluation.Case) bool { return autoapprove.Match(c.Question) == nil })
	if name != "" {
		m, err := provider.New(provider.Options{Provider: name, Model: model, Key: egress.EnvironmentKeys(mitm.Providers(), []string{name}, os.Getenv)[name]})
		if err != nil {
			return fmt.Errorf("%w (set the provider's key in the environment)", err)
		}
		defer m.Close()
		// Here the model sees every case; in use it sees only those that the grammar has
		// accepted.
		measure(m.Name()+" alone", cases, func(c evaluation.Case) bool { return asks(m, c) })
		bad += measure(`the grammar, confirmed by the model (mode "grammar", confirm "model")`, cases, func(c evaluation.Case) bool {
			return autoapprove.Match(c.Question) == nil && asks(m, c)
		})
		bad += measure(`the model, within the fixed rules (mode "model")`, cases, func(c evaluation.Case) bool {
			return autoapprove.ForPerson(c.Question) == nil && asks(m, c)
		})
	}
	if bad > 0 {
		return fmt.Errorf("%d calls were approved about which a person must be asked", bad)
	}
	return nil
}

func asks(m llm.Model, c evaluation.Case) bool {
	got := autoapprove.Confirm(context.Background(), m, c.Question)
	if got.Error != "" {
		fmt.Printf("  %s: no valid answer: %s\n", c.ID, got.Error)
	}
	return got.Approve
}

// measure runs the cases and returns how many were approved wrongly.
func measure(what string, cases []evaluation.Case, approves func(evaluation.Case) bool) (wrong int) {
	may, did := 0, 0
	for _, c := range cases {
		approved := approves(c)
		switch {
		case c.Approve:
			may++
			if approved {
				did++
			}
		case approved:
			wrong++
			fmt.Printf("  %s: wrongly approved: %s\n", c.ID, c.Why)
		}
	}
	fmt.Printf("%s: %d cases, %d wrongly approved, %d of %d rightly approved\n", what, len(cases), wrong, did, may)
	return wrong
}
