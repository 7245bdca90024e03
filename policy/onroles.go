package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Roles holds for calls of tools that have an argument of one of the roles, while one
// of these is judged.
type Roles []Role

var rolesKind = Kind{
	Name: "roles", Help: "the rule takes part only while one of these roles is judged", Schema: namesSchema,
	readFrom: func(n *node) Predicate { return Roles(n.someRoles()) },
}

// Member is "roles".
func (Roles) Member() string { return "roles" }

// SpeaksOf is true: the roles decide only once they are known.
func (Roles) SpeaksOf(_, _ string) bool { return true }

// Named are the roles.
func (r Roles) Named() []Role { return r }

func (r Roles) String() string { return roleNames(r) }

// ImpliedBy leaves the roles to TakesPart.
func (Roles) ImpliedBy(Rule, Decision) bool { return true }

func (r Roles) bind(*Engine, Rule) ([]test, []string) {
	return []test{{call: func(roles []Role, _ jsonx.Value) bool {
		return slices.ContainsFunc(roles, func(role Role) bool { return slices.Contains(r, role) })
	}}}, nil
}
