package policy

import (
	"fmt"
	"slices"
)

// rule is a rule of the policy, ready to judge: its directories, hosts and lists are
// looked up.
type rule struct {
	name   string
	reason string
	then   Decision
	when   Condition
	tests  []test
	named  [][]Role // the roles that each predicate names, without predicates that name none
	// addresses are the roles whose addresses the rule limits.
	addresses []Role
	// wholeCall marks a rule that escalates or denies and whose predicates have no role in
	// common. It takes part in judging no role, and is applied to the call as a whole.
	wholeCall bool
}

// names reports whether any predicate of the rule names the role.
func (r *rule) names(role Role) bool {
	return slices.ContainsFunc(r.named, func(list []Role) bool { return slices.Contains(list, role) })
}

// takesPart is TakesPart for the rule's condition.
func (r *rule) takesPart(role Role) bool {
	for _, list := range r.named {
		if !slices.Contains(list, role) {
			return false
		}
	}
	return true
}

// perValue reports whether the rule decides about each value of a role separately and
// leaves the others to later rules. Such a rule does not apply to a call without values.
func (r *rule) perValue() bool {
	return slices.ContainsFunc(r.tests, func(t test) bool { return t.each })
}

// miss returns why the rule covers no value of a role.
func (r *rule) miss() string {
	for _, t := range r.tests {
		if t.miss != "" {
			return t.miss
		}
	}
	return missesList
}

// compileRule makes a rule ready to judge.
func (e *Engine) compileRule(r Rule) (out *rule, warnings []string) {
	out = &rule{name: r.Name, reason: sanitize(r.Reason), then: r.Then, when: r.If}
	for _, p := range r.If {
		tests, why := p.bind(e, r)
		out.tests, warnings = append(out.tests, tests...), append(warnings, why...)
		if named := p.Named(); named != nil {
			out.named = append(out.named, named)
		}
	}
	for _, role := range []Role{FetchURL, GitRemote} {
		if r.If.Limits(role) {
			out.addresses = append(out.addresses, role)
		}
	}
	if !r.If.coherent() {
		out.wholeCall = r.Then != Allow
		warnings = append(warnings, disjoint(r))
	}
	return out, warnings
}

// compileRules makes the built-in rules and then the rules of the policy ready to judge.
func (e *Engine) compileRules() (rules []*rule, warnings []string) {
	for _, r := range slices.Concat(proxyRules(), e.config.Policy.Rules) {
		out, why := e.compileRule(r)
		rules, warnings = append(rules, out), append(warnings, why...)
	}
	for _, def := range e.config.Policy.Lists {
		switch _, resolved := e.config.Lists.Get(def.Name); {
		case !resolved:
			warnings = append(warnings, fmt.Sprintf("list @%s is not resolved: rules that allow by it match nothing, other rules match everything", def.Name))
		case len(e.config.Lists.values(def.Name)) == 0:
			warnings = append(warnings, fmt.Sprintf("list @%s is empty: rules that use it match nothing", def.Name))
		}
	}
	return rules, warnings
}

// disjoint warns of a rule whose predicates have no role in common.
func disjoint(r Rule) string {
	effect := "it has no effect"
	if r.Then != Allow {
		effect = "it is applied to calls as a whole"
	}
	return fmt.Sprintf("rule %s: its conditions have no role in common, so %s", r.Name, effect)
}
