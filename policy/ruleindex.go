package policy

import (
	"fmt"
	"slices"
)

// rule is a compiled rule with everything looked up that can be.
type rule struct {
	name   string
	reason string
	then   Decision
	when   Condition
	tests  []test
	named  [][]Role // what each predicate that names roles names
	// addresses are the roles of addresses that the rule limits.
	addresses []Role
	// loose marks a rule that asks or denies and whose conditions name no role together:
	// it takes part in judging none of them, but is held against the call as a whole.
	loose bool
}

// names reports whether any predicate of the rule names the role.
func (r *rule) names(role Role) bool {
	return slices.ContainsFunc(r.named, func(list []Role) bool { return slices.Contains(list, role) })
}

// takesPart is TakesPart of the rule's condition.
func (r *rule) takesPart(role Role) bool {
	for _, list := range r.named {
		if !slices.Contains(list, role) {
			return false
		}
	}
	return true
}

// divides reports whether the rule speaks of some values of a role and leaves others to
// the rules behind it, so that it says nothing of a call without values.
func (r *rule) divides() bool {
	return slices.ContainsFunc(r.tests, func(t test) bool { return t.each })
}

// miss says why the rule covers no value of a role.
func (r *rule) miss() string {
	for _, t := range r.tests {
		if t.miss != "" {
			return t.miss
		}
	}
	return missesList
}

// compileRule looks up what a rule speaks of.
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
		out.loose = r.Then != Allow
		warnings = append(warnings, disjoint(r))
	}
	return out, warnings
}

// compileRules prepares the rules of the policy behind the built-in ones.
func (e *Engine) compileRules() (rules []*rule, warnings []string) {
	for _, r := range slices.Concat(proxyRules(), e.config.Policy.Rules) {
		out, why := e.compileRule(r)
		rules, warnings = append(rules, out), append(warnings, why...)
	}
	for _, def := range e.config.Policy.Lists {
		switch _, resolved := e.config.Lists.Get(def.Name); {
		case !resolved:
			warnings = append(warnings, fmt.Sprintf("list @%s is not resolved: rules that allow by it match nothing, others everything", def.Name))
		case len(e.config.Lists.values(def.Name)) == 0:
			warnings = append(warnings, fmt.Sprintf("list @%s is empty: rules that use it match nothing", def.Name))
		}
	}
	return rules, warnings
}

// disjoint warns of a rule whose conditions name no role together.
func disjoint(r Rule) string {
	effect := "it has no effect"
	if r.Then != Allow {
		effect = "it is held against calls as a whole"
	}
	return fmt.Sprintf("rule %s: its conditions name no role together, so %s", r.Name, effect)
}
