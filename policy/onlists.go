package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// ListCondition is true for values of the roles that are on the list.
type ListCondition struct {
	Roles   []Role   `json:"roles"`
	Allowed []string `json:"allowed"`
	Match   string   `json:"matchType"` // "domains", "emails" or "identifiers"
}

// ListConditions are true when each of them is true.
type ListConditions []ListCondition

var listsKind = Kind{
	Name:   "lists",
	Help:   "every value of the roles is on a list or among the values written out; matchType is domains, emails or identifiers",
	Schema: `{"type":"array","items":{"type":"object","properties":{"roles":{"type":"array","items":{"type":"string"}},"allowed":{"type":"array","items":{"type":"string"}},"matchType":{"type":"string","enum":["domains","emails","identifiers"]}},"required":["roles","allowed","matchType"],"additionalProperties":false}}`,
	readFrom: func(n *node) Predicate {
		if n.value.Kind == jsonx.Array && len(n.value.Items) == 0 {
			n.fail("the list is empty")
		}
		var all ListConditions
		n.each(func(p *node) {
			if !p.object() {
				return
			}
			c := ListCondition{p.required("roles").someRoles(), p.required("allowed").strings(), p.required("matchType").str()}
			matchType(p.optional("matchType"), c.Match)
			if c.Match == "domains" {
				checkPatterns(p.optional("allowed"))
			}
			n.refers(c.Match, c.Allowed)
			all = append(all, c)
			p.done()
		})
		return all
	},
}

func matchType(n *node, s string) {
	if n != nil && s != "domains" && s != "emails" && s != "identifiers" {
		n.fail("unknown list type %q", s)
	}
}

// Member is "lists".
func (ListConditions) Member() string { return "lists" }

// AppliesTo is always true: the condition does not depend on the tool.
func (ListConditions) AppliesTo(_, _ string) bool { return true }

// Named returns the roles of all the lists.
func (cs ListConditions) Named() []Role {
	var all []Role
	for _, c := range cs {
		all = append(all, c.Roles...)
	}
	return all
}

func (cs ListConditions) String() string {
	var parts []string
	for _, c := range cs {
		parts = append(parts, roleNames(c.Roles)+" among "+strings.Join(c.Allowed, ", "))
	}
	return strings.Join(parts, "; ")
}

// ImpliedBy reports whether the other rule has each of these conditions with the same
// values or fewer.
func (cs ListConditions) ImpliedBy(other Rule, then Decision) bool {
	missing := func(c ListCondition) bool {
		return !slices.ContainsFunc(Find[ListConditions](other.If), func(o ListCondition) bool {
			return o.Match == c.Match && subset(c.Roles, o.Roles) && subset(o.Roles, c.Roles) &&
				!slices.ContainsFunc(o.Allowed, func(v string) bool { return !slices.Contains(c.Allowed, v) })
		})
	}
	return !slices.ContainsFunc(cs, missing) && (then != Allow || other.Then == Allow)
}

// Meets reports whether each of these conditions has a value in common with every
// condition of the other rule on the same roles.
func (cs ListConditions) Meets(other Rule) bool {
	apart := func(c ListCondition) bool {
		return slices.ContainsFunc(Find[ListConditions](other.If), func(o ListCondition) bool {
			same := o.Match == c.Match && slices.ContainsFunc(o.Roles, func(r Role) bool { return slices.Contains(c.Roles, r) })
			return same && !slices.ContainsFunc(o.Allowed, func(v string) bool { return slices.Contains(c.Allowed, v) })
		})
	}
	return !slices.ContainsFunc(cs, apart)
}

// Limits reports whether values of the role must be on a list of the role's kind.
func (cs ListConditions) Limits(r Role) bool {
	return slices.ContainsFunc(cs, func(c ListCondition) bool {
		fits := c.Match == "domains" && r.IsURL() || c.Match == "emails" && r == EmailAddress
		return fits && slices.Contains(c.Roles, r)
	})
}

// Opens returns the values.
func (cs ListConditions) Opens() []Opening {
	var out []Opening
	for _, c := range cs {
		for _, v := range c.Allowed {
			out = append(out, Opening{v, []string{v}})
		}
	}
	return out
}

// Objections says what is wrong with values that a rule allows.
func (cs ListConditions) Objections(string, []string) []string {
	var broken []string
	for _, c := range cs {
		if c.Match == "domains" {
			broken = append(broken, objectionsTo(c.Allowed)...)
		}
		if len(c.Allowed) == 0 || slices.Contains(c.Allowed, "*") {
			broken = append(broken, `has a list that is empty or contains "*"`)
		}
	}
	return broken
}

func (cs ListConditions) bind(e *Engine, r Rule) (tests []test, warnings []string) {
	for _, c := range cs {
		t := test{roles: c.Roles, miss: missesList}
		switch c.Match {
		case "domains":
			patterns, bad := e.patterns(c.Allowed, r)
			warnings = append(warnings, bad...)
			t.match = func(el *element) bool {
				return matchAny(patterns, el, r.Then) || r.Then != Allow && el.target == nil && !el.role.IsURL()
			}
		default:
			values := e.config.Lists.expand(c.Allowed)
			t.match = func(el *element) bool { return listed(values, c.Match, el, r.Then) }
		}
		if r.Then != Allow && e.config.Lists.lacks(c.Allowed) { // every value may be on it
			t.match = func(*element) bool { return true }
		}
		tests = append(tests, t)
	}
	return tests, warnings
}

// listed reports whether a value is on a list. Identifiers, which the engine brings to
// lower case, are compared without case. When it is uncertain whether the value is on the
// list, a rule that allows does not match; any other rule does, so that it misses no call.
func listed(values []string, match string, el *element, then Decision) bool {
	strict := then == Allow
	folded := func(v string) bool { return equalFold(v, el.text) }
	switch {
	case match == "emails":
		return slices.ContainsFunc(values, folded) || !strict && !plainMail.MatchString(el.text)
	case !strict || el.role.category() == identifier:
		return slices.ContainsFunc(values, folded)
	}
	return slices.Contains(values, el.text)
}

// plainMail matches exactly one mail address, without a name before it and without a
// second address.
var plainMail = regexp.MustCompile(`^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]+@[A-Za-z0-9.-]+$`)

// equalFold compares and ignores the case of ASCII letters only. Characters that Unicode
// folds to ASCII letters, such as the long s, make a different name.
func equalFold(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}
