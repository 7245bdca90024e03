package policy

import (
	"cmp"
	"slices"
)

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
