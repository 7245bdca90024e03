package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Roles is true for calls that have one of the roles, while one of these roles is judged.
type Roles []Role

var rolesKind = Kind{
	Name: "roles", Help: "the rule takes part only while one of these roles is judged", Schema: namesSchema,
	readFrom: func(n *node) Predicate { return Roles(n.someRoles()) },
}

// Member is "roles".
func (Roles) Member() string { return "roles" }

// AppliesTo is always true: a call's roles are known only later.
func (Roles) AppliesTo(_, _ string) bool { return true }

// Named returns the roles.
func (r Roles) Named() []Role { return r }

func (r Roles) String() string { return roleNames(r) }

// ImpliedBy is always true: callers compare roles with TakesPart.
func (Roles) ImpliedBy(Rule, Decision) bool { return true }

// Meets is always true: callers compare roles with TakesPart.
func (Roles) Meets(Rule) bool { return true }

func (r Roles) bind(*Engine, Rule) ([]test, []string) {
	return []test{{call: func(roles []Role, _ jsonx.Value) bool {
		return slices.ContainsFunc(roles, func(role Role) bool { return slices.Contains(r, role) })
	}}}, nil
}
