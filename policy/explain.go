package policy

import (
	"context"
	"slices"
)

// Explanation says how each rule contributed to a verdict.
type Explanation struct {
	Verdict Verdict
	Roles   []RoleExplanation
}

// RoleExplanation says what each rule that can apply to the tool decided about one role,
// or about the call as a whole when no role is judged.
type RoleExplanation struct {
	Role  Role // empty: the call as a whole
	Rules []RuleExplanation
}

// RuleExplanation says whether a rule applied, and why not.
type RuleExplanation struct {
	Rule     string
	Then     Decision
	Applied  bool
	Values   int    // how many values of the role it decided
	Obstacle string // why it did not apply
}

// Explain judges a call as Evaluate does, and says what every rule decided.
func (e *Engine) Explain(c Call) Explanation {
	x := Explanation{Verdict: e.Evaluate(c)}
	f := e.collector.begin(context.Background()).gather(c)
	if f.refused != nil {
		return x
	}
	t := f.tool
	for _, role := range f.roles {
		silent := role.IsPath() && t.traits.SandboxFiles && !f.hasValue(role) // a call that leaves the path out touches nothing
		if role.Judged() && !silent {
			x.Roles = append(x.Roles, f.explainRole(role))
		}
	}
	if len(x.Roles) == 0 {
		x.Roles = append(x.Roles, f.explainRole(""))
	}
	for _, role := range f.roles {
		if !role.Judged() && slices.ContainsFunc(t.rules, func(r *rule) bool { return r.names(role) }) {
			x.Roles = append(x.Roles, f.explainRole(role))
		}
	}
	return x
}

func (f *facts) explainRole(role Role) RoleExplanation {
	out := RoleExplanation{Role: role}
	var open []element
	total, decided := 0, false
	for _, el := range f.elements {
		if el.role != role {
			continue
		}
		total++
		if !f.free(&el) {
			open = append(open, el)
		}
	}
	if done := total - len(open); done > 0 {
		out.Rules = append(out.Rules, RuleExplanation{Rule: RuleSandbox, Then: Allow, Applied: true, Values: done})
	}
	for _, r := range f.tool.rules {
		x := RuleExplanation{Rule: r.name, Then: r.then}
		switch {
		case !r.wholeCall && (decided || (len(open) == 0 && total > 0)):
			x.Obstacle = "earlier rules have decided everything"
		case r.wholeCall:
			if x.Applied = f.applies(r, ""); !x.Applied {
				x.Obstacle = "its conditions have no role in common, and are not all true for the call"
			}
		case role != "" && !r.takesPart(role):
			x.Obstacle = "it applies to other roles"
		case role != "" && !role.Judged() && r.then != Allow && !r.names(role):
			x.Obstacle = "it does not name the role, and no rule has to allow values of this role"
		case !f.applies(r, role):
			x.Obstacle = "its hosts, lists or roles do not match"
		case total == 0 && r.perValue():
			x.Obstacle = "the call has no value that the rule could apply to"
		case total == 0 && f.skipsListing(r, role):
			x.Obstacle, decided = "the call only lists the remotes and contacts none", true
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
