package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

const namesSchema = `{"type":"array","items":{"type":"string"}}`

// Servers is true for calls of the listed servers.
type Servers []string

var serverKind = Kind{
	Name: "server", Always: true, Help: "exactly this server's name, alone", Schema: namesSchema, Example: `["filesystem"]`,
	readFrom: func(n *node) Predicate { return Servers(n.names()) },
}

// Member is "server".
func (Servers) Member() string { return "server" }

// AppliesTo reports whether the server is listed.
func (s Servers) AppliesTo(server, _ string) bool { return slices.Contains(s, server) }

// Named is nil: the condition takes part for every role.
func (Servers) Named() []Role { return nil }

// String is empty, because rules are shown grouped by server.
func (Servers) String() string { return "" }

// ImpliedBy is always true: callers compare servers with AppliesTo.
func (Servers) ImpliedBy(Rule, Decision) bool { return true }

// Meets is always true: callers compare servers with AppliesTo.
func (Servers) Meets(Rule) bool { return true }

func (Servers) bind(*Engine, Rule) ([]test, []string) { return nil, nil }

// Tools is true for calls of the listed tools.
type Tools []string

var toolKind = Kind{
	Name: "tool", Help: "names of tools; absent means all of them", Schema: namesSchema,
	readFrom: func(n *node) Predicate { return Tools(n.names()) },
}

// Member is "tool".
func (Tools) Member() string { return "tool" }

// AppliesTo reports whether the tool is listed.
func (t Tools) AppliesTo(_, tool string) bool { return slices.Contains(t, tool) }

// Named is nil: the condition takes part for every role.
func (Tools) Named() []Role { return nil }

func (t Tools) String() string { return strings.Join(t, ", ") }

// ImpliedBy is always true: callers compare tools with AppliesTo.
func (Tools) ImpliedBy(Rule, Decision) bool { return true }

// Meets is always true: callers compare tools with AppliesTo.
func (Tools) Meets(Rule) bool { return true }

func (Tools) bind(*Engine, Rule) ([]test, []string) { return nil, nil }

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
