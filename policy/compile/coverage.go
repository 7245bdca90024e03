package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Gap is a tool with judged roles that no rule applies to, so calls with values of these
// roles are denied. If Roles is empty, all calls of the tool are denied.
type Gap struct {
	Tool  string
	Roles []policy.Role
}

// uncovered returns the gaps that rules leave. without is the engine without rules; it
// shows which tools need no rule.
func uncovered(server string, tools []policy.ToolDescription, rules []policy.Rule, without *policy.Engine) []Gap {
	var out []Gap
	for _, t := range tools {
		var missing []policy.Role
		for _, role := range judgedRoles(t) {
			if !slices.ContainsFunc(rules, func(r policy.Rule) bool { return concerns(server, []policy.ToolDescription{t}, r, role) }) {
				missing = append(missing, role)
			}
		}
		applies := func(r policy.Rule) bool { return r.If.AppliesTo(server, t.Name) && len(r.If.Named()) == 0 }
		switch {
		case len(missing) > 0:
			out = append(out, Gap{t.Name, missing})
		case len(judgedRoles(t)) == 0 && !slices.ContainsFunc(rules, applies) && without.Evaluate(sample(server, t, schemaOf(t), "", "")).Decision == policy.Deny:
			out = append(out, Gap{Tool: t.Name})
		}
	}
	return out
}

// shadowed returns rules that decide nothing, because earlier rules decide everything that
// they could decide.
func shadowed(server string, tools []policy.ToolDescription, rules []policy.Rule) []string {
	var out []string
	for i, later := range rules {
		var by string
		reached := false
		for _, t := range tools {
			if !later.If.AppliesTo(server, t.Name) {
				continue
			}
			roles := judgedRoles(t)
			if len(roles) == 0 {
				roles = []policy.Role{""} // the call as a whole
			}
			for _, role := range roles {
				if !takesPart(later, role) {
					continue
				}
				j := slices.IndexFunc(rules[:i], func(r policy.Rule) bool {
					return r.If.AppliesTo(server, t.Name) && takesPart(r, role) && implied(role, r, later)
				})
				if j < 0 {
					reached = true
				} else {
					by = rules[j].Name
				}
			}
		}
		if !reached && by != "" {
			out = append(out, fmt.Sprintf("%s: %s decides before it", later.Name, by))
		}
	}
	return out
}

// unnamed returns hosts and directories that rules allow and that the constitution does
// not mention: a host by its name or its own label, a directory by its path or its last
// element. They may be right, but a person should look at them.
func unnamed(constitution string, rules []policy.Rule) []string {
	text := strings.ToLower(constitution)
	var out []string
	look := func(rule, what string, names ...string) {
		named := func(name string) bool { return name != "" && strings.Contains(text, strings.ToLower(name)) }
		if !strings.HasPrefix(what, "@") && !slices.ContainsFunc(names, named) {
			out = append(out, fmt.Sprintf("%s allows %s, which the constitution does not name", rule, what))
		}
	}
	for _, r := range rules {
		if r.Then != policy.Allow {
			continue
		}
		for _, o := range r.If.Opens() {
			look(r.Name, o.Text, o.Names...)
		}
	}
	return out
}

// implied reports whether the first rule applies to everything that the second applies to,
// while a role is judged in which both take part.
func implied(role policy.Role, first, second policy.Rule) bool {
	if role.IsURL() && first.Then == policy.Allow && !first.If.Limits(role) {
		return false // only a rule that limits addresses can allow an address
	}
	return !slices.ContainsFunc(first.If, func(p policy.Predicate) bool { return !p.ImpliedBy(second, first.Then) })
}

// takesPart is TakesPart, extended to the empty role, which means a call of a tool without
// judged roles.
func takesPart(r policy.Rule, role policy.Role) bool {
	if role == "" {
		return len(r.If.Named()) == 0
	}
	return r.If.TakesPart(role)
}
