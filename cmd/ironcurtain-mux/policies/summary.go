package policies

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

// summary describes for a person what was compiled.
type summary struct {
	result              *compile.Result
	options             *compile.Options
	constitution, model string
}

func (s summary) print(out io.Writer, inForce wiring.LoadedPolicy) error {
	var b strings.Builder
	fmt.Fprintf(&b, "policy compiled from %s by %s\n", s.constitution, s.model)
	for _, r := range s.result.Servers {
		s.server(&b, r)
	}
	if err := s.flips(&b, inForce); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// server describes one server: its rules in order, their lists, what is still denied, and
// how the rules were tested.
func (s summary) server(b *strings.Builder, r compile.ServerResult) {
	fmt.Fprintf(b, "\n%s\n", r.Name)
	if r.Failure != nil {
		fmt.Fprintf(b, "  no rules, so all calls that need a rule are denied: %s\n", strings.ReplaceAll(r.Failure.Error(), "\n", "; "))
		return
	}
	for _, rule := range r.Rules {
		fmt.Fprintf(b, "  %-9s %s: %s\n            %s\n", rule.Then, rule.Name, rule.If, rule.Reason)
	}
	for _, def := range r.Lists {
		fmt.Fprintf(b, "  list      @%s (%s): %s\n", def.Name, def.Type, strings.Join(r.Values[def.Name].Effective(), ", "))
	}
	gaps(b, r)
	for _, text := range r.Unnamed {
		fmt.Fprintf(b, "  look at   %s\n", text)
	}
	for _, text := range r.Shadowed {
		fmt.Fprintf(b, "  no effect %s\n", text)
	}
	if r.Stale {
		b.WriteString("  old       compiled from a constitution, model or tools that have changed since; leave --server out to compile it again\n")
	}
	how := "tested"
	if r.Kept {
		how = "unchanged, tested again"
	}
	fmt.Fprintf(b, "  %s on %d calls that must never be allowed and on %d of the model's; repairs: %d\n", how, r.Never, len(r.Scenarios), r.Repairs)
	for _, sc := range r.Scenarios {
		fmt.Fprintf(b, "    %-9s %s\n", sc.Expected, sc.Description)
	}
	for _, text := range r.Corrected {
		fmt.Fprintf(b, "    corrected by the model: %s\n", text)
	}
	for _, text := range r.Dropped {
		fmt.Fprintf(b, "    not tested: %s\n", text)
	}
}

// gaps lists what is still denied, with the tools of the same gap together.
func gaps(b *strings.Builder, r compile.ServerResult) {
	var order []string
	tools := map[string][]string{}
	for _, g := range r.Uncovered {
		what := roleNames(g.Roles)
		if policy.DefaultTraits()[r.Name].SandboxFiles && slices.ContainsFunc(g.Roles, policy.Role.IsPath) {
			what += " outside the workspace"
		}
		if tools[what] == nil {
			order = append(order, what)
		}
		tools[what] = append(tools[what], text.ASCII(g.Tool))
	}
	for _, what := range order {
		fmt.Fprintf(b, "  denied    %s: %s\n", cmp.Or(what, "always"), strings.Join(tools[what], ", "))
	}
}

func roleNames(roles []policy.Role) string {
	var out []string
	for _, r := range roles {
		out = append(out, string(r))
	}
	return strings.Join(out, ", ")
}

// flips lists the calls that the new policy judges differently from the one in force.
func (s summary) flips(b *strings.Builder, inForce wiring.LoadedPolicy) error {
	before, err := s.options.World.Engine(inForce.Compiled, inForce.Annotations, inForce.Lists)
	if err != nil {
		return err
	}
	after, err := s.result.Engine(s.options)
	if err != nil {
		return err
	}
	var calls []policy.Call
	for _, sc := range s.result.Scenarios {
		calls = append(calls, sc.Call)
	}
	for _, r := range s.result.Servers {
		calls = append(calls, compile.Grid(r.Name, s.options.Annotations.Describe(r.Name))...)
	}
	type change struct{ server, was, is, by string }
	var order []change
	found := map[change][]policy.Call{}
	differ := 0
	for _, c := range calls {
		was, is := judged(before.Evaluate(c)), judged(after.Evaluate(c))
		if !differs(was, is) {
			continue
		}
		differ++
		k := change{c.Server, was.Decision, is.Decision, is.Rule}
		if found[k] == nil {
			order = append(order, k)
		}
		found[k] = append(found[k], c)
	}
	fmt.Fprintf(b, "\ncompared with the policy in force (%s): %d of %d sampled calls are judged differently\n", inForce.Source, differ, len(calls))
	for _, k := range order {
		first := found[k][0]
		fmt.Fprintf(b, "  %-9s was %s, by %s: %d of %s, such as %s %s\n", k.is, k.was, k.by, len(found[k]), text.ASCII(k.server), text.ASCII(first.Tool), jsonx.ASCII(first.Arguments))
	}
	return nil
}
