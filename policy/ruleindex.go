package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// rule is a compiled rule with everything looked up that can be.
type rule struct {
	name    string
	reason  string
	then    Decision
	when    *Condition
	paths   *pathRule
	domains *domainRule
	lists   []listRule
	// loose marks a rule that asks or denies and whose conditions name no role together:
	// it takes part in judging none of them, but is held against the call as a whole.
	loose bool
}

// names reports whether any condition of the rule names the role.
func (r *rule) names(role Role) bool { return slices.Contains(r.when.named(), role) }

type pathRule struct {
	roles  []Role
	within string
}

type domainRule struct {
	roles    []Role
	patterns []urlx.Pattern
}

type listRule struct {
	roles    []Role
	match    string
	values   []string
	patterns []urlx.Pattern // of match "domains"
	// unknown marks a list that a rule which asks or denies needs and that has not been
	// resolved: every value may be on it.
	unknown bool
}

// compileRules prepares the rules of the policy behind the built-in ones.
func (e *Engine) compileRules() (rules []*rule, warnings []string) {
	rules = proxyRules()
	for _, r := range e.config.Policy.Rules {
		out := &rule{
			name: r.Name, reason: sanitize(r.Reason), then: r.Then, when: &r.If,
		}
		if p := r.If.Paths; p != nil {
			within, err := e.paths.ResolveTrusted(p.Within)
			switch {
			case err != nil && r.Then == Allow:
				warnings = append(warnings, fmt.Sprintf("rule %s cannot match: %v", r.Name, err))
			case err != nil: // whom it was to hold back must not slip past it
				within.Path = "/"
				warnings = append(warnings, fmt.Sprintf("rule %s speaks of every path: %v", r.Name, err))
			}
			out.paths = &pathRule{roles: p.Roles, within: within.Path}
			if r.Then == Allow && e.tooWide(within.Path) {
				warnings = append(warnings, fmt.Sprintf("rule %s allows a directory that contains the home directory or protected files", r.Name))
			}
		}
		if d := r.If.Domains; d != nil {
			patterns, bad := e.patterns(d.Allowed, r.Then)
			warnings = append(warnings, unread(r, bad)...)
			for _, p := range patterns {
				if r.Then == Allow && p.Subdomains() && p.CoversSuffix() {
					warnings = append(warnings, fmt.Sprintf("rule %s allows all hosts below a domain where anybody can have a name; name the hosts", r.Name))
				}
			}
			out.domains = &domainRule{roles: d.Roles, patterns: patterns}
		}
		for _, l := range r.If.Lists {
			lr := listRule{
				roles: l.Roles, match: l.Match, values: e.config.Lists.expand(l.Allowed),
				unknown: r.Then != Allow && e.config.Lists.lacks(l.Allowed),
			}
			if l.Match == "domains" {
				var bad []string
				lr.patterns, bad = e.patterns(l.Allowed, r.Then)
				warnings = append(warnings, unread(r, bad)...)
			}
			out.lists = append(out.lists, lr)
		}
		if !r.If.coherent() {
			out.loose = r.Then != Allow
			warnings = append(warnings, disjoint(r))
		}
		rules = append(rules, out)
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

// tooWide reports whether a directory contains the home directory or
// something protected.
func (e *Engine) tooWide(dir string) bool {
	if dir == "" {
		return false
	}
	if home, err := e.paths.ResolveTrusted("~"); err == nil && pathx.Within(home.Path, dir) {
		return true
	}
	for _, entry := range e.guard.entries {
		if pathx.Within(entry.resolved.Path, dir) {
			return true
		}
	}
	return false
}

// patterns parses domain patterns with the lists put in. Those that cannot be read
// match nothing in a rule that allows, nor does what a list would allow beyond public
// hosts and what is below them. In any other rule they match everything, as does a list
// that has not been resolved: whom the rule was to hold back must not slip past it.
func (e *Engine) patterns(allowed []string, then Decision) (good []urlx.Pattern, bad []string) {
	for _, s := range allowed {
		name, fromList := strings.CutPrefix(s, "@")
		values := []string{s}
		if fromList {
			values = e.config.Lists.values(name)
		}
		if then != Allow && e.config.Lists.lacks([]string{s}) {
			good = append(good, urlx.Anything())
		}
		for _, v := range values {
			p, err := urlx.ParsePattern(v)
			switch {
			case err != nil && then != Allow:
				bad, good = append(bad, v), append(good, urlx.Anything())
			case err != nil || (fromList && then == Allow && (!p.Plain() || !p.Public() || p.CoversSuffix())):
				bad = append(bad, v)
			default:
				good = append(good, p)
			}
		}
	}
	return good, bad
}

// unread warns of patterns that a rule does not understand as they were meant.
func unread(r Rule, bad []string) []string {
	effect := "has no effect"
	if r.Then != Allow {
		effect = "cannot be read, so the rule speaks of every host"
	}
	var warnings []string
	for _, b := range bad {
		warnings = append(warnings, fmt.Sprintf("rule %s: pattern %q %s", r.Name, b, effect))
	}
	return warnings
}
