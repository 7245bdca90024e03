package policy

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// DomainCondition is true for URLs of the roles whose domain matches.
type DomainCondition struct {
	Roles   []Role   `json:"roles"`
	Allowed []string `json:"allowed"`
}

var domainsKind = Kind{
	Name:   "domains",
	Help:   `the host of every address of the roles matches "example.com" or "*.example.com" (the host and all below it); escalating rules may say "*" for all public hosts, allowing rules may not`,
	Schema: `{"type":"object","properties":{"roles":{"type":"array","items":{"type":"string"}},"allowed":{"type":"array","items":{"type":"string"}}},"required":["roles","allowed"],"additionalProperties":false}`,
	readFrom: func(n *node) Predicate {
		c := &DomainCondition{}
		if !n.object() {
			return c
		}
		c.Roles, c.Allowed = n.required("roles").someRoles(), n.required("allowed").strings()
		checkPatterns(n.optional("allowed"))
		n.optional("allowed").refers("domains", c.Allowed)
		n.done()
		return c
	},
}

func checkPatterns(n *node) {
	if n == nil {
		return
	}
	n.each(func(c *node) {
		if s := c.str(); !strings.HasPrefix(s, "@") {
			if _, err := urlx.ParsePattern(s); err != nil {
				c.fail("%q is not a domain pattern: %w", s, err)
			}
		}
	})
}

// Member is "domains".
func (*DomainCondition) Member() string { return "domains" }

// AppliesTo is always true: the condition does not depend on the tool.
func (*DomainCondition) AppliesTo(_, _ string) bool { return true }

// Named returns the roles of the addresses.
func (c *DomainCondition) Named() []Role { return c.Roles }

func (c *DomainCondition) String() string {
	return roleNames(c.Roles) + " on " + strings.Join(c.Allowed, ", ")
}

// ImpliedBy reports whether this condition includes all hosts of the other rule. A rule
// that allows covers only encrypted connections to a host, other rules cover all.
func (c *DomainCondition) ImpliedBy(other Rule, then Decision) bool {
	o := Find[*DomainCondition](other.If)
	missing := func(host string) bool {
		return !slices.ContainsFunc(c.Allowed, func(p string) bool { return hostWithin(host, p) })
	}
	return o != nil && !slices.ContainsFunc(o.Allowed, missing) && (then != Allow || other.Then == Allow)
}

// Meets reports whether the conditions name a host in common.
func (c *DomainCondition) Meets(other Rule) bool {
	o := Find[*DomainCondition](other.If)
	return o == nil || slices.ContainsFunc(c.Allowed, func(own string) bool {
		return slices.ContainsFunc(o.Allowed, func(host string) bool { return hostWithin(host, own) || hostWithin(own, host) })
	})
}

// hostWithin reports whether a pattern covers every host of another pattern. It compares
// plain hosts; of others it knows only that each covers itself.
func hostWithin(host, pattern string) bool {
	p, err := urlx.ParsePattern(pattern)
	inner, innerErr := urlx.ParsePattern(host)
	switch {
	case host == pattern:
		return true
	case err != nil || innerErr != nil || !inner.Plain() || !inner.Public():
		return false
	case pattern == "*":
		return true
	}
	below, wild := strings.CutPrefix(pattern, "*.")
	host = strings.TrimPrefix(host, "*.")
	return wild && p.Plain() && (host == below || strings.HasSuffix(host, "."+below))
}

// Limits reports whether addresses of the role must match.
func (c *DomainCondition) Limits(r Role) bool { return r.IsURL() && slices.Contains(c.Roles, r) }

// Opens returns the hosts, each with its name and its own label.
func (c *DomainCondition) Opens() []Opening {
	var out []Opening
	for _, host := range c.Allowed {
		out = append(out, Opening{host, []string{strings.TrimPrefix(host, "*."), ownLabel(host)}})
	}
	return out
}

// ownLabel returns the label of a host before its public suffix, such as "example" in
// "www.example.co.uk".
func ownLabel(host string) string {
	own, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimPrefix(host, "*."))
	if err != nil {
		return ""
	}
	label, _, _ := strings.Cut(own, ".")
	return label
}

// Objections says what is wrong with hosts that a rule allows.
func (c *DomainCondition) Objections(string, []string) []string { return objectionsTo(c.Allowed) }

func objectionsTo(hosts []string) []string {
	var broken []string
	if len(hosts) == 0 {
		broken = append(broken, "allows no host at all: its list is empty")
	}
	for _, s := range hosts {
		if strings.HasPrefix(s, "@") {
			continue // its values are checked when they are looked up
		}
		p, err := urlx.ParsePattern(s)
		switch {
		case strings.Contains(s, ":"):
			broken = append(broken, fmt.Sprintf("allows %q: write the host alone, without scheme and port", s))
		case err != nil:
			broken = append(broken, fmt.Sprintf("allows %q, which is not a host", s))
		case p.Everywhere():
			broken = append(broken, fmt.Sprintf("allows %q, every host there is", s))
		case p.CoversSuffix() && p.Public():
			broken = append(broken, fmt.Sprintf("allows %q, below which anybody can have a name", s))
		case !p.Public():
			broken = append(broken, fmt.Sprintf("allows %q, which is not one public host", s))
		}
	}
	return broken
}

// missesList says that no host and no list decides about a value that is still open.
const missesList = "its hosts or lists match no value that is left"

func (c *DomainCondition) bind(e *Engine, r Rule) (tests []test, warnings []string) {
	patterns, warnings := e.patterns(c.Allowed, r)
	for _, p := range patterns {
		if r.Then == Allow && p.Subdomains() && p.CoversSuffix() {
			warnings = append(warnings, fmt.Sprintf("rule %s allows all hosts below a domain where anybody can have a name; name the hosts", r.Name))
		}
	}
	return []test{{
		roles: c.Roles, miss: missesList,
		match: func(el *element) bool { return matchAny(patterns, el, r.Then) },
	}}, warnings
}

// patterns parses domain patterns and replaces lists by their values. In a rule that
// allows, a pattern that cannot be read matches nothing, and neither does a value of a
// list that is not a plain public host. In any other rule, a pattern that cannot be read
// and a list that is not resolved match everything, so that the rule misses no call.
func (e *Engine) patterns(allowed []string, r Rule) (good []urlx.Pattern, warnings []string) {
	unread := func(pattern, effect string) {
		warnings = append(warnings, fmt.Sprintf("rule %s: pattern %q %s", r.Name, pattern, effect))
	}
	for _, s := range allowed {
		name, fromList := strings.CutPrefix(s, "@")
		values := []string{s}
		if fromList {
			values = e.config.Lists.values(name)
		}
		if r.Then != Allow && e.config.Lists.lacks([]string{s}) {
			good = append(good, urlx.Anything())
		}
		for _, v := range values {
			p, err := urlx.ParsePattern(v)
			switch {
			case err != nil && r.Then != Allow:
				good = append(good, urlx.Anything())
				unread(v, "cannot be read, so the rule covers every host")
			case err != nil || (fromList && r.Then == Allow && (!p.Plain() || !p.Public() || p.CoversSuffix())):
				unread(v, "has no effect")
			default:
				good = append(good, p)
			}
		}
	}
	return good, warnings
}

// matchAny reports whether an address matches one of the patterns. A pattern without a
// scheme matches, in a rule that allows, only encrypted connections at the usual port. In
// other rules it matches every connection to the host.
func matchAny(patterns []urlx.Pattern, el *element, then Decision) bool {
	if el.target == nil {
		return false
	}
	for _, p := range patterns {
		if p.Match(*el.target, then != Allow) {
			return true
		}
	}
	return false
}
