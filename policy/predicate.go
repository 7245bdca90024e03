package policy

import "github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"

// Predicate is one member of a rule's "if": one type, in a file of its own, that reads,
// judges and describes itself. What reads, compiles and shows policies goes through the
// list of kinds below and knows no predicate by name.
type Predicate interface {
	// Member is its name in "if".
	Member() string
	// SpeaksOf reports whether it can hold for calls of a tool at all.
	SpeaksOf(server, tool string) bool
	// Named are the roles that it names: a rule takes part only while one of them is
	// judged. Nil is every role.
	Named() []Role
	// String says in a few words what it asks for; empty is nothing worth saying.
	String() string
	// ImpliedBy reports whether it holds wherever the condition of another rule does.
	// then is the decision of its own rule.
	ImpliedBy(other Rule, then Decision) bool
	// bind makes the tests by which an engine judges calls.
	bind(e *Engine, r Rule) (tests []test, warnings []string)
}

// Extent is a predicate that says where values may lie, so that a rule can allow by it.
type Extent interface {
	Predicate
	// Limits reports whether it says where the values of a role may lie.
	Limits(Role) bool
	// Opens lists the places that it names.
	Opens() []Opening
	// Objections says what in it no rule may allow on a person's machine, whatever the
	// person wants.
	Objections(home string, protected []string) []string
}

// Opening is a place that a rule speaks of.
type Opening struct {
	Text  string   // as the rule has it
	Names []string // by which a person would call it
}

// Kind is a kind of predicate: how a member of "if" is read, and described to a model.
type Kind struct {
	Name     string
	Always   bool   // a model has to give it
	Help     string // what it means
	Schema   string // its JSON Schema
	Example  string // its part in the rule that a model is shown; empty: none
	readFrom func(*node) Predicate
}

// kinds are all predicates, in the order in which they are read, written and shown.
var kinds = []Kind{serverKind, toolKind, rolesKind, pathsKind, domainsKind, listsKind}

// Kinds lists what a rule's "if" can hold.
func Kinds() []Kind { return append([]Kind{}, kinds...) }

// test is what a predicate asks of a call. It has either call or the other fields.
type test struct {
	call  func(roles []Role, args jsonx.Value) bool // asks something of the call as a whole
	roles []Role                                    // whose values are looked at
	match func(*element) bool
	// each has an allowance speak of every value that matches. Otherwise it holds when
	// all values match.
	each bool
	miss string // why no value was covered
}
