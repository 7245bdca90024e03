package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ToolDescription is what the annotations say of a tool.
type ToolDescription struct {
	Name      string
	Comment   string // of the server's author: text that is not to be trusted
	Arguments []ArgumentDescription
	Schema    json.RawMessage // of the arguments; nil when the file brings none
}

// ArgumentDescription is one argument and every role that it can have.
type ArgumentDescription struct {
	Name     string
	Roles    []Role
	Required bool
}

// Roles are all the roles that an argument of the tool can have, each once.
func (t ToolDescription) Roles() []Role {
	var out []Role
	for _, a := range t.Arguments {
		for _, r := range a.Roles {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Servers lists the annotated servers by name.
func (a *Annotations) Servers() []string { return slices.Sorted(slices.Values(a.servers)) }

// Describe lists the tools of a server by name. The roles are those by which calls
// are judged, with those that the engine adds of its own.
func (a *Annotations) Describe(server string) []ToolDescription {
	var out []ToolDescription
	for key, t := range a.tools {
		if key.server != server {
			continue
		}
		tight := t.tighten(DefaultTraits()[server])
		d := ToolDescription{Name: key.tool, Comment: t.comment}
		for _, name := range slices.Sorted(maps.Keys(tight.args)) {
			d.Arguments = append(d.Arguments, ArgumentDescription{name, slices.Clone(tight.args[name].roles), t.schema.Required(name)})
		}
		if t.schema != nil {
			d.Schema = t.schema.Source().Encode()
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b ToolDescription) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Encode returns the annotations as they were read, in canonical form.
func (a *Annotations) Encode() []byte { return slices.Clone(a.raw) }
