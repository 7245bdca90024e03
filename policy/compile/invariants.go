package compile

import (
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Machine is what the invariants need to know about the person's machine.
type Machine struct {
	Home string // absolute
	// Protected are files and directories that no rule may allow, including directories
	// above and inside them.
	Protected []string
}

// limited are the roles that a rule may allow only with a limit on their values.
var limited = []policy.Role{
	policy.ReadPath, policy.WritePath, policy.DeletePath, policy.WriteHistory, policy.DeleteHistory,
	policy.FetchURL, policy.GitRemote, policy.EmailAddress,
}

// invariants returns what no rule may allow whatever the constitution says, one sentence
// for each violation. The sentences are for the model or person who changes the rules.
func (m Machine) invariants(server string, tools []policy.ToolDescription, rules []policy.Rule) []string {
	var broken []string
	for _, r := range rules {
		if r.Then != policy.Allow {
			continue
		}
		for _, why := range m.allowance(server, tools, r) {
			broken = append(broken, "rule "+r.Name+" "+why)
		}
	}
	return broken
}

// allowance checks one rule that allows.
func (m Machine) allowance(server string, tools []policy.ToolDescription, r policy.Rule) []string {
	var broken []string
	for _, role := range limited {
		if !r.If.Limits(role) && concerns(server, tools, r, role) {
			broken = append(broken, fmt.Sprintf("allows %s without %s to limit it", role, wanted(role)))
		}
	}
	if policy.Find[policy.Tools](r.If) == nil && len(r.If.Named()) == 0 {
		broken = append(broken, "allows the whole server: it names neither tools nor roles")
	}
	return append(broken, r.If.Objections(m.Home, m.Protected)...)
}

// wanted names the conditions that limit a role.
func wanted(role policy.Role) string {
	switch {
	case role.IsPath():
		return "paths"
	case role.IsURL():
		return "domains"
	}
	return "lists of emails"
}

// concerns reports whether a rule takes part in judging a role of any of the tools.
func concerns(server string, tools []policy.ToolDescription, r policy.Rule, role policy.Role) bool {
	return r.If.TakesPart(role) && slices.ContainsFunc(tools, func(t policy.ToolDescription) bool {
		return r.If.AppliesTo(server, t.Name) && slices.Contains(t.Roles(), role)
	})
}
