package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ToolDescription is what the annotations say about a tool.
type ToolDescription struct {
	Name      string
	Comment   string // written by the server's author; not trusted
	Arguments []ArgumentDescription
	Schema    json.RawMessage // of the arguments; nil when the file has none
}

// ArgumentDescription is one argument and every role that it can have.
type ArgumentDescription struct {
	Name     string
	Roles    []Role
	Required bool
}

// Roles returns all roles that arguments of the tool can have, each once.
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

// Servers returns the names of the annotated servers, sorted.
func (a *Annotations) Servers() []string { return slices.Sorted(slices.Values(a.servers)) }

// Describe returns the tools of a server, sorted by name. Their roles are those that calls
// are judged by, including the roles that the engine adds itself.
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
