package policy

import (
	"cmp"
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

// Summary describes the rules and tools of an engine.
type Summary struct {
	Hash     string        `json:"hash"`
	Sandbox  string        `json:"sandbox"`
	Rules    []RuleSummary `json:"rules"`
	Tools    []ToolSummary `json:"tools"`
	Warnings []string      `json:"warnings,omitempty"`
}

// RuleSummary is one compiled rule.
type RuleSummary struct {
	Name   string   `json:"name"`
	Then   Decision `json:"then"`
	Reason string   `json:"reason"`
}

// ToolSummary is one annotated tool.
type ToolSummary struct {
	Server  string              `json:"server"`
	Tool    string              `json:"tool"`
	Visible bool                `json:"visible"`
	Roles   map[string][]string `json:"roles"` // by argument
}

// Summarize returns the rules, in order, and the tools, sorted by name.
func (e *Engine) Summarize() Summary {
	s := Summary{Hash: e.hash, Sandbox: e.collector.paths.Base, Warnings: e.warnings}
	for _, r := range e.config.Policy.Rules {
		s.Rules = append(s.Rules, RuleSummary{Name: r.Name, Then: r.Then, Reason: sanitize(r.Reason)})
	}
	for key, t := range e.collector.tools {
		ts := ToolSummary{Server: key.server, Tool: key.tool, Visible: e.Visible(key.server, key.tool), Roles: map[string][]string{}}
		for name, arg := range t.args {
			roles := []string{}
			for _, r := range arg.roles {
				roles = append(roles, string(r))
			}
			ts.Roles[name] = roles
		}
		s.Tools = append(s.Tools, ts)
	}
	slices.SortFunc(s.Tools, func(a, b ToolSummary) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	return s
}
