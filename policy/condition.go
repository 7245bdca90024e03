package policy

import (
	"encoding/json"
	"slices"
)

// SpeaksOf reports whether the condition can hold for calls of a tool at all.
func (c *Condition) SpeaksOf(server, tool string) bool {
	return (c.Servers == nil || slices.Contains(c.Servers, server)) &&
		(c.Tools == nil || slices.Contains(c.Tools, tool))
}

// TakesPart reports whether the condition is looked at while a role is judged:
// when it names no roles at all, or names this one wherever it names any.
func (c *Condition) TakesPart(role Role) bool {
	if c.Roles != nil && !slices.Contains(c.Roles, role) {
		return false
	}
	if c.Paths != nil && !slices.Contains(c.Paths.Roles, role) {
		return false
	}
	if c.Domains != nil && !slices.Contains(c.Domains.Roles, role) {
		return false
	}
	if len(c.Lists) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Lists, func(l ListCondition) bool { return slices.Contains(l.Roles, role) })
}

// named lists the roles that the condition names anywhere.
func (c *Condition) named() []Role {
	all := slices.Clone(c.Roles)
	if c.Paths != nil {
		all = append(all, c.Paths.Roles...)
	}
	if c.Domains != nil {
		all = append(all, c.Domains.Roles...)
	}
	for _, l := range c.Lists {
		all = append(all, l.Roles...)
	}
	return all
}

// coherent reports whether there is a role for which the condition takes part.
func (c *Condition) coherent() bool {
	all := c.named()
	return len(all) == 0 || slices.ContainsFunc(all, c.TakesPart)
}

// Digest identifies the rules and the lists that they refer to, whatever else
// the policy says of itself.
func (c *Compiled) Digest() string {
	rules, _ := json.Marshal(append([]Rule{}, c.Rules...)) // plain strings, which can always be written
	lists, _ := json.Marshal(append([]ListDefinition{}, c.Lists...))
	return digest(rules, lists)
}
