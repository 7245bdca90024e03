package policy

import (
	"fmt"
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
}

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
}

// compileRules prepares the rules of the policy behind the built-in ones.
func (e *Engine) compileRules() (rules []*rule, warnings []string) {
	rules = proxyRules()
	for _, r := range e.config.Policy.Rules {
		out := &rule{
			name: r.Name, reason: sanitize(r.Reason), then: r.Then, when: &r.If,
		}
		if p := r.If.Paths; p != nil {
			if p.Within != "" && strings.HasPrefix(p.Within, "~") && e.config.Home == "" {
				warnings = append(warnings, fmt.Sprintf("rule %s cannot match: no home directory is known", r.Name))
			}
			within, err := e.paths.ResolveTrusted(p.Within)
			if err != nil {
				// Without its directory the rule holds for nothing.
				warnings = append(warnings, fmt.Sprintf("rule %s cannot match: %v", r.Name, err))
			}
			out.paths = &pathRule{roles: p.Roles, within: within.Path}
			if r.Then == Allow && e.tooWide(within.Path) {
				warnings = append(warnings, fmt.Sprintf("rule %s allows a directory that contains the home directory or protected files", r.Name))
			}
		}
		if d := r.If.Domains; d != nil {
			patterns, bad := e.patterns(d.Allowed, r.Then)
			for _, b := range bad {
				warnings = append(warnings, fmt.Sprintf("rule %s: pattern %q has no effect", r.Name, b))
			}
			for _, p := range patterns {
				if r.Then == Allow && p.Subdomains() && p.CoversSuffix() {
					warnings = append(warnings, fmt.Sprintf("rule %s allows all hosts below a domain where anybody can have a name; name the hosts", r.Name))
				}
			}
			out.domains = &domainRule{roles: d.Roles, patterns: patterns}
		}
		for _, l := range r.If.Lists {
			lr := listRule{roles: l.Roles, match: l.Match, values: e.config.Lists.expand(l.Allowed)}
			if l.Match == "domains" {
				var bad []string
				lr.patterns, bad = e.patterns(l.Allowed, r.Then)
				for _, b := range bad {
					warnings = append(warnings, fmt.Sprintf("rule %s: pattern %q has no effect", r.Name, b))
				}
			}
			out.lists = append(out.lists, lr)
		}
		rules = append(rules, out)
	}
	for _, def := range e.config.Policy.Lists {
		if e.config.Lists.values(def.Name) == nil {
			warnings = append(warnings, fmt.Sprintf("list @%s is empty: rules that use it match nothing", def.Name))
		}
	}
	return rules, warnings
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
// match nothing, nor does what a list would allow beyond public hosts and what is
// below them.
func (e *Engine) patterns(allowed []string, then Decision) (good []urlx.Pattern, bad []string) {
	for _, s := range allowed {
		name, fromList := strings.CutPrefix(s, "@")
		values := []string{s}
		if fromList {
			values = e.config.Lists.values(name)
		}
		for _, v := range values {
			p, err := urlx.ParsePattern(v)
			if err != nil || (fromList && then == Allow && (!p.Plain() || !p.Public() || p.CoversSuffix())) {
				bad = append(bad, v)
				continue
			}
			good = append(good, p)
		}
	}
	return good, bad
}
