package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Predicate is one member of a rule's "if". Each is one type in a file of its own that
// reads, judges and describes itself. The code that reads, compiles and shows policies
// uses the list of kinds below and knows no predicate by name.
type Predicate interface {
	// Member is its name in "if".
	Member() string
	// AppliesTo reports whether it can be true for any call of a tool.
	AppliesTo(server, tool string) bool
	// Named returns the roles that it names. A rule takes part only while one of them is
	// judged. Nil means every role.
	Named() []Role
	// String says in a few words what it asks for. Empty: there is nothing to show.
	String() string
	// ImpliedBy reports whether it is true for every call for which the condition of the
	// other rule is true. then is the decision of its own rule.
	ImpliedBy(other Rule, then Decision) bool
	// Meets reports whether a value can meet both this and the condition of the other
	// rule, as far as the rules show.
	Meets(other Rule) bool
	// bind makes the tests that an engine judges calls with.
	bind(e *Engine, r Rule) (tests []test, warnings []string)
}

// Extent is a predicate that limits where values may lie, so that a rule can allow them.
type Extent interface {
	Predicate
	// Limits reports whether it limits where the values of a role may lie.
	Limits(Role) bool
	// Opens returns the places that it names.
	Opens() []Opening
	// Objections returns what is wrong with its places: what no rule may allow on a
	// person's machine, whatever the person wants.
	Objections(home string, protected []string) []string
}

// Opening is a place that a rule names.
type Opening struct {
	Text  string   // as written in the rule
	Names []string // names that a person would use for it
}

// Kind is a kind of predicate: how a member of "if" is read, and described to a model.
type Kind struct {
	Name     string
	Always   bool   // a model must give it
	Help     string // what it means
	Schema   string // its JSON Schema
	Example  string // its part of the example rule that a model is shown; empty: none
	readFrom func(*node) Predicate
}

// kinds are all kinds of predicates, in the order in which they are read, written and shown.
var kinds = []Kind{serverKind, toolKind, rolesKind, pathsKind, domainsKind, listsKind}

// Kinds returns all kinds of predicates that a rule's "if" can have.
func Kinds() []Kind { return append([]Kind{}, kinds...) }

// test is what a predicate tests about a call. Either call is set or the other fields are.
type test struct {
	call  func(roles []Role, args jsonx.Value) bool // tests the call as a whole
	roles []Role                                    // the roles whose values are tested
	match func(*element) bool
	// each is true when a rule that allows decides about each matching value separately.
	// Otherwise such a rule applies only if all values match.
	each bool
	miss string // why no value was covered
}

// Condition is true when all of its predicates are true. It has at least one. In a rule
// that allows, all values of a role must match; only the values of PathCondition are
// matched one by one. A rule that escalates or denies applies to each value that matches,
// whatever the other values are.
type Condition []Predicate

// Find returns the predicate of type P, or the zero P when the condition has none.
func Find[P Predicate](c Condition) (found P) {
	for _, p := range c {
		if got, ok := p.(P); ok {
			return got
		}
	}
	return found
}

// AppliesTo reports whether the condition can be true for any call of a tool.
func (c Condition) AppliesTo(server, tool string) bool {
	return !slices.ContainsFunc(c, func(p Predicate) bool { return !p.AppliesTo(server, tool) })
}

// TakesPart reports whether the condition is evaluated while a role is judged: every
// predicate that names roles must name this one.
func (c Condition) TakesPart(role Role) bool {
	return !slices.ContainsFunc(c, func(p Predicate) bool {
		named := p.Named()
		return named != nil && !slices.Contains(named, role)
	})
}

// Meets reports whether a value can meet both the condition and that of the other rule, as
// far as the rules show.
func (c Condition) Meets(other Rule) bool {
	return !slices.ContainsFunc(c, func(p Predicate) bool { return !p.Meets(other) })
}

// Named lists the roles that the condition names anywhere.
func (c Condition) Named() []Role {
	var all []Role
	for _, p := range c {
		all = append(all, p.Named()...)
	}
	return all
}

// Limits reports whether the condition says where the values of a role may lie.
func (c Condition) Limits(role Role) bool {
	return slices.ContainsFunc(c, func(p Predicate) bool {
		e, ok := p.(Extent)
		return ok && e.Limits(role)
	})
}

// Opens lists the places that the condition names.
func (c Condition) Opens() []Opening {
	var all []Opening
	for _, p := range c {
		if e, ok := p.(Extent); ok {
			all = append(all, e.Opens()...)
		}
	}
	return all
}

// Objections says what in the condition no rule may allow on a person's machine.
func (c Condition) Objections(home string, protected []string) []string {
	var all []string
	for _, p := range c {
		if e, ok := p.(Extent); ok {
			all = append(all, e.Objections(home, protected)...)
		}
	}
	return all
}

// String says in a few words what the condition asks for.
func (c Condition) String() string {
	var parts []string
	for _, p := range c {
		if s := p.String(); s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return "every tool"
	}
	return strings.Join(parts, "; ")
}

// coherent reports whether the condition takes part in judging at least one role.
func (c Condition) coherent() bool {
	all := c.Named()
	return len(all) == 0 || slices.ContainsFunc(all, c.TakesPart)
}

// MarshalJSON writes the condition in the form that readCondition reads.
func (c Condition) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, k := range kinds {
		i := slices.IndexFunc(c, func(p Predicate) bool { return p.Member() == k.Name })
		if i < 0 {
			continue
		}
		data, err := json.Marshal(c[i])
		if err != nil {
			return nil, err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + k.Name + `":`)
		b.Write(data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func readCondition(n *node) Condition {
	if n.doc.err != nil || !n.object() {
		return nil
	}
	if len(n.value.Members) == 0 {
		n.fail("the rule has no condition")
		return nil
	}
	var c Condition
	for _, k := range kinds {
		if m := n.optional(k.Name); m != nil {
			c = append(c, k.readFrom(m))
		}
	}
	n.done()
	return c
}

// roleNames lists roles for a person.
func roleNames(roles []Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}
