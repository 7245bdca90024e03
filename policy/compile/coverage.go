package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Gap is a tool with judged roles about which no rule speaks, so that calls with
// values of them are denied. A tool without judged roles is denied as a whole.
type Gap struct {
	Tool  string
	Roles []policy.Role
}

// uncovered lists the gaps that rules leave. The engine without rules tells what
// needs none.
func uncovered(server string, tools []policy.ToolDescription, rules []policy.Rule, without *policy.Engine) []Gap {
	var out []Gap
	for _, t := range tools {
		var missing []policy.Role
		for _, role := range judgedRoles(t) {
			if !slices.ContainsFunc(rules, func(r policy.Rule) bool { return concerns(server, []policy.ToolDescription{t}, r, role) }) {
				missing = append(missing, role)
			}
		}
		speaks := func(r policy.Rule) bool { return r.If.AppliesTo(server, t.Name) && len(r.If.Named()) == 0 }
		switch {
		case len(missing) > 0:
			out = append(out, Gap{t.Name, missing})
		case len(judgedRoles(t)) == 0 && !slices.ContainsFunc(rules, speaks) && without.Evaluate(sample(server, t, schemaOf(t), "", "")).Decision == policy.Deny:
			out = append(out, Gap{Tool: t.Name})
		}
	}
	return out
}

// shadowed lists rules that decide nothing, since rules before them decide all
// that they could.
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

// unnamed lists what rules allow although the constitution never uses its name: a
// host neither by its name nor by its own label, a directory by neither its last
// element nor its path. That may be right; a person should look at it.
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

// implied reports whether the first rule holds wherever the second does, while a
// role is judged in which both take part.
func implied(role policy.Role, first, second policy.Rule) bool {
	if role.IsURL() && first.Then == policy.Allow && !first.If.Limits(role) {
		return false // no address is allowed by a rule that speaks of none
	}
	return !slices.ContainsFunc(first.If, func(p policy.Predicate) bool { return !p.ImpliedBy(second, first.Then) })
}

// takesPart is TakesPart, also for calls of tools without judged roles.
func takesPart(r policy.Rule, role policy.Role) bool {
	if role == "" {
		return len(r.If.Named()) == 0
	}
	return r.If.TakesPart(role)
}
