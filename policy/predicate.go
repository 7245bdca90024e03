package policy

import "github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"

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
	// rule, as far as the rules tell.
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
