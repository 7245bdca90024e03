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
				if !later.TakesPart(role) {
					continue
				}
				j := slices.IndexFunc(rules[:i], func(r policy.Rule) bool {
					return r.If.AppliesTo(server, t.Name) && r.TakesPart(role) && r.Includes(later, role)
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
