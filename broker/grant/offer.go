package grant

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Scope names how far a grant reaches.
type Scope string

// The scopes, the narrowest first. File, host and remote are the same step for different
// kinds of calls.
const (
	Exact     Scope = "exact"     // this very call
	File      Scope = "file"      // this tool on these paths
	Host      Scope = "host"      // this tool on any address of these hosts
	Remote    Scope = "remote"    // this tool on these remotes
	Target    Scope = "target"    // this tool on these names
	Directory Scope = "directory" // this tool on what lies directly in this directory
	Tool      Scope = "tool"      // this tool, which is not annotated, whatever its arguments
)

// Offer is a grant that a person could give for a call they see.
type Offer struct {
	Scope   Scope
	Text    string // in full what would be let through; values are quoted
	pattern pattern
}

// Matches reports whether the offer would let a call through.
func (o Offer) Matches(c Call) bool { return o.pattern.matches(c) }

// never are the roles without grants, because their calls cannot be undone or open a new way
// out.
var never = []policy.Role{policy.WriteHistory, policy.DeleteHistory, policy.ProxyDomain}

// Offers lists the scopes an approval of the call could be remembered for, the
// narrowest first. There are none for a structural escalation. It looks at the
// file system to tell directories from files.
func Offers(c Call) []Offer {
	if c.Structural || c.Digest == "" || slices.ContainsFunc(c.Values, func(v policy.Value) bool { return slices.Contains(never, v.Role) }) {
		return nil
	}
	name := c.Server + "/" + c.Tool
	offers := []Offer{{
		Scope:   Exact,
		Text:    fmt.Sprintf("%s with exactly these arguments", quoteName(name)),
		pattern: pattern{server: c.Server, tool: c.Tool, digest: c.Digest},
	}}
	if c.Unannotated {
		return append(offers, Offer{
			Scope:   Tool,
			Text:    fmt.Sprintf("%s with any arguments", quoteName(name)),
			pattern: pattern{server: c.Server, tool: c.Tool, any: true},
		})
	}
	rest, err := c.rest()
	if err != nil || len(c.Values) == 0 || slices.ContainsFunc(c.Values, concealed) {
		return offers
	}
	target := pattern{server: c.Server, tool: c.Tool, slots: map[slot]allowed{}, rest: rest}
	for at, values := range c.slots() {
		target.slots[at] = reach(at.role, values)
	}
	offers = append(offers, Offer{Scope: scopeOf(c), Text: describe(name, target, c.Prose), pattern: target})
	if wider, ok := inDirectory(c, target); ok {
		offers = append(offers, Offer{Scope: Directory, Text: describe(name, wider, c.Prose), pattern: wider})
	}
	return offers
}

// concealed reports whether a value is the path of a hidden file. A call with such a path
// can only be remembered with exactly the same arguments.
func concealed(v policy.Value) bool { return isPath(v.Role) && hidden(v.Text) }

func isPath(r policy.Role) bool {
	return r == policy.ReadPath || r == policy.WritePath || r == policy.DeletePath
}

// reach returns the values that the target scope allows in a slot: for addresses that are
// fetched, the same origin; else the same value.
func reach(role policy.Role, values []policy.Value) allowed {
	var a allowed
	for _, v := range values {
		if role == policy.FetchURL && v.Origin != "" {
			a.origins = append(a.origins, v.Origin)
		} else {
			a.texts = append(a.texts, v.Text)
		}
	}
	slices.Sort(a.origins)
	a.origins = slices.Compact(a.origins)
	slices.Sort(a.texts)
	a.texts = slices.Compact(a.texts)
	return a
}

// scopeOf returns the name of the target scope for a call.
func scopeOf(c Call) Scope {
	has := func(r policy.Role) bool {
		return slices.ContainsFunc(c.Values, func(v policy.Value) bool { return v.Role == r })
	}
	switch {
	case has(policy.GitRemote):
		return Remote
	case has(policy.FetchURL):
		return Host
	case slices.ContainsFunc(c.Values, func(v policy.Value) bool { return isPath(v.Role) }):
		return File
	}
	return Target
}

// inDirectory widens the paths outside the sandbox to all files directly in their one
// directory. It is not offered for calls that delete, nor for the root of the file system,
// a directory just below it, a hidden directory, or a person's home.
func inDirectory(c Call, target pattern) (pattern, bool) {
	dir := ""
	for _, v := range c.Values {
		if (v.Role != policy.ReadPath && v.Role != policy.WritePath) || v.Origin != "" {
			return pattern{}, false
		}
		if v.Sandbox {
			continue
		}
		in := v.Text
		if info, err := os.Stat(in); err != nil || !info.IsDir() {
			in = path.Dir(in)
		}
		if dir != "" && dir != in {
			return pattern{}, false
		}
		dir = in
	}
	home, err := os.UserHomeDir()
	if dir == "" || err != nil || dir == path.Clean(home) || hidden(dir) || strings.Count(dir, "/") < 2 {
		return pattern{}, false
	}
	wider := pattern{server: target.server, tool: target.tool, slots: map[slot]allowed{}, rest: target.rest}
	for at, values := range c.slots() {
		a := target.slots[at]
		if !slices.ContainsFunc(values, func(v policy.Value) bool { return v.Sandbox }) {
			a.directory = dir
		}
		wider.slots[at] = a
	}
	return wider, true
}
