package policy

import (
	"context"
	"slices"
)

// Explanation tells how a verdict came about, rule by rule.
type Explanation struct {
	Verdict Verdict
	Roles   []RoleExplanation
}

// RoleExplanation tells what each rule that could speak of the tool had to
// say about one role, or about the call as a whole when none is judged.
type RoleExplanation struct {
	Role  Role // empty: the call
	Rules []RuleExplanation
}

// RuleExplanation tells why a rule applied or not.
type RuleExplanation struct {
	Rule     string
	Then     Decision
	Applied  bool
	Values   int    // how many values of the role it decided
	Obstacle string // why it did not apply
}

// Explain judges a call and tells what every rule had to say. The verdict is
// the one Evaluate gives.
func (e *Engine) Explain(c Call) Explanation {
	x := Explanation{Verdict: e.Evaluate(c)}
	t, ok := e.tools[toolKey{c.Server, c.Tool}]
	if !ok {
		return x
	}
	args, err := e.decode(c.Arguments, t)
	if err != nil {
		return x
	}
	p := &preparation{engine: e, tool: t, call: c, args: args, snapshot: e.look(context.Background())}
	if p.run() != nil {
		return x
	}
	for _, role := range p.roles {
		silent := role.IsPath() && t.traits.SandboxFiles && !p.hasValue(role) // a path that is left out touches nothing
		if role.Judged() && !silent {
			x.Roles = append(x.Roles, p.explainRole(role))
		}
	}
	if len(x.Roles) == 0 {
		x.Roles = append(x.Roles, p.explainRole(""))
	}
	for _, role := range p.roles {
		if !role.Judged() && slices.ContainsFunc(t.rules, func(r *rule) bool { return r.names(role) }) {
			x.Roles = append(x.Roles, p.explainRole(role))
		}
	}
	return x
}

func (p *preparation) explainRole(role Role) RoleExplanation {
	out := RoleExplanation{Role: role}
	var open []element
	total, decided := 0, false
	for _, el := range p.elements {
		if el.role != role {
			continue
		}
		total++
		if !p.free(&el) {
			open = append(open, el)
		}
	}
	if done := total - len(open); done > 0 {
		out.Rules = append(out.Rules, RuleExplanation{Rule: RuleSandbox, Then: Allow, Applied: true, Values: done})
	}
	for _, r := range p.tool.rules {
		x := RuleExplanation{Rule: r.name, Then: r.then}
		switch {
		case !r.loose && (decided || (len(open) == 0 && total > 0)):
			x.Obstacle = "everything was decided before"
		case r.loose:
			if x.Applied = p.holds(r, ""); !x.Applied {
				x.Obstacle = "its conditions name no role together, and do not all hold for the call"
			}
		case role != "" && !r.takesPart(role):
			x.Obstacle = "it speaks of other roles"
		case role != "" && !role.Judged() && r.then != Allow && !r.names(role):
			x.Obstacle = "it does not name the role, which needs no allowance"
		case !p.holds(r, role):
			x.Obstacle = "its hosts, lists or roles do not match"
		case total == 0 && r.divides():
			x.Obstacle = "the call has no value that it could hold for"
		case total == 0 && p.passesOver(r, role):
			x.Obstacle, decided = "the call tells which remotes there are, and contacts nobody", true
		case total == 0:
			x.Applied, decided = true, true
		default:
			rest := open[:0]
			for _, el := range open {
				if !r.covers(role, &el) {
					rest = append(rest, el)
				}
			}
			x.Values = len(open) - len(rest)
			x.Applied = x.Values > 0
			open = rest
			if !x.Applied {
				x.Obstacle = r.miss()
			}
		}
		out.Rules = append(out.Rules, x)
	}
	return out
}
