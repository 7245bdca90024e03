package policy

import (
	"slices"
	"strings"
)

const namesSchema = `{"type":"array","items":{"type":"string"}}`

// Servers holds for calls of the servers listed.
type Servers []string

var serverKind = Kind{
	Name: "server", Always: true, Help: "exactly this server's name, alone", Schema: namesSchema, Example: `["filesystem"]`,
	readFrom: func(n *node) Predicate { return Servers(n.names()) },
}

// Member is "server".
func (Servers) Member() string { return "server" }

// SpeaksOf reports whether the server is listed.
func (s Servers) SpeaksOf(server, _ string) bool { return slices.Contains(s, server) }

// Named is every role.
func (Servers) Named() []Role { return nil }

// String is empty: rules are shown by server.
func (Servers) String() string { return "" }

// ImpliedBy leaves the servers to SpeaksOf.
func (Servers) ImpliedBy(Rule, Decision) bool { return true }

func (Servers) bind(*Engine, Rule) ([]test, []string) { return nil, nil }

// Tools holds for calls of the tools listed.
type Tools []string

var toolKind = Kind{
	Name: "tool", Help: "names of tools; absent means all of them", Schema: namesSchema,
	readFrom: func(n *node) Predicate { return Tools(n.names()) },
}

// Member is "tool".
func (Tools) Member() string { return "tool" }

// SpeaksOf reports whether the tool is listed.
func (t Tools) SpeaksOf(_, tool string) bool { return slices.Contains(t, tool) }

// Named is every role.
func (Tools) Named() []Role { return nil }

func (t Tools) String() string { return strings.Join(t, ", ") }

// ImpliedBy leaves the tools to SpeaksOf.
func (Tools) ImpliedBy(Rule, Decision) bool { return true }

func (Tools) bind(*Engine, Rule) ([]test, []string) { return nil, nil }
