package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// ListCondition holds for values of the roles that are on the list.
type ListCondition struct {
	Roles   []Role   `json:"roles"`
	Allowed []string `json:"allowed"`
	Match   string   `json:"matchType"` // "domains", "emails" or "identifiers"
}

// ListConditions hold when each of them does.
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

// SpeaksOf is true: only values decide.
func (ListConditions) SpeaksOf(_, _ string) bool { return true }

// Named are the roles of all the lists.
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

// ImpliedBy is false: lists change.
func (ListConditions) ImpliedBy(Rule, Decision) bool { return false }

// Limits reports whether values of the role have to be on a list of its kind.
func (cs ListConditions) Limits(r Role) bool {
	return slices.ContainsFunc(cs, func(c ListCondition) bool {
		fits := c.Match == "domains" && r.IsURL() || c.Match == "emails" && r == EmailAddress
		return fits && slices.Contains(c.Roles, r)
	})
}

// Opens are the values, by what they are.
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
			broken = append(broken, `has a list that is empty or holds "*"`)
		}
	}
	return broken
}

func (cs ListConditions) bind(e *Engine, r Rule) (tests []test, warnings []string) {
	for _, c := range cs {
		t := test{roles: c.Roles, miss: missesList}
		switch {
		case c.Match == "domains":
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

// listed reports whether a value is on a list. Names that the engine brings to lower
// case are compared without regard to it. What cannot be told is no match for a rule
// that allows, and one for any other: whom that was to hold back must not slip past it.
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

// plainMail is one address of mail and nothing else: no name before it and no second
// address behind it.
var plainMail = regexp.MustCompile(`^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]+@[A-Za-z0-9.-]+$`)

// equalFold compares without regard to the case of ASCII letters. What else Unicode
// folds into them, such as the long s, makes another name.
func equalFold(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}
