package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// Machine is what the invariants know of the person's machine.
type Machine struct {
	Home string // absolute
	// Protected are files and directories that no rule may open, nor a directory
	// above or inside one.
	Protected []string
}

// limited are the roles that nothing may allow without saying where.
var limited = []policy.Role{
	policy.ReadPath, policy.WritePath, policy.DeletePath, policy.WriteHistory, policy.DeleteHistory,
	policy.FetchURL, policy.GitRemote, policy.EmailAddress,
}

// invariants says, a sentence each, what in rules must not be whatever the
// constitution says. They are written for whoever has to change the rules.
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
		if how := limit(r.If, role); how != "" && concerns(server, tools, r, role) {
			broken = append(broken, fmt.Sprintf("allows %s without %s that say where", role, how))
		}
	}
	if r.If.Tools == nil && len(rolesOf(r.If)) == 0 {
		broken = append(broken, "allows the whole server: it names neither tools nor roles")
	}
	if r.If.Paths != nil {
		if why := m.within(r.If.Paths.Within); why != "" {
			broken = append(broken, why)
		}
	}
	if r.If.Domains != nil {
		broken = append(broken, patterns(r.If.Domains.Allowed)...)
	}
	for _, l := range r.If.Lists {
		if l.Match == "domains" {
			broken = append(broken, patterns(l.Allowed)...)
		}
		if len(l.Allowed) == 0 || slices.Contains(l.Allowed, "*") {
			broken = append(broken, `has a list that is empty or holds "*"`)
		}
	}
	return broken
}

// limit names the conditions that a role wants and a rule lacks, or nothing.
func limit(c policy.Condition, role policy.Role) string {
	listed := func(match string) bool {
		return slices.ContainsFunc(c.Lists, func(l policy.ListCondition) bool { return l.Match == match && slices.Contains(l.Roles, role) })
	}
	switch {
	case role.IsPath() && c.Paths == nil:
		return "paths"
	case role.IsURL() && c.Domains == nil && !listed("domains"):
		return "domains"
	case role == policy.EmailAddress && !listed("emails"):
		return "lists of emails"
	}
	return ""
}

// concerns reports whether a rule takes part in judging a role of some tool.
func concerns(server string, tools []policy.ToolDescription, r policy.Rule, role policy.Role) bool {
	return r.If.TakesPart(role) && slices.ContainsFunc(tools, func(t policy.ToolDescription) bool {
		return r.If.SpeaksOf(server, t.Name) && slices.Contains(t.Roles(), role)
	})
}

// within says what is wrong with a directory that a rule allows, or nothing.
func (m Machine) within(dir string) string {
	at := pathx.Resolver{Home: m.Home}
	got, err := at.ResolveTrusted(dir)
	if err != nil {
		return fmt.Sprintf("allows within %s, which cannot be found: %v", dir, err)
	}
	home, err := at.ResolveTrusted("~")
	if err != nil {
		return "allows a directory while no home directory is known"
	}
	below := !strings.HasPrefix(dir, "~") && (pathx.Within(dir, m.Home) || pathx.Within(dir, home.Path))
	switch {
	case pathx.Within(home.Path, got.Path):
		return fmt.Sprintf("allows within %s, which holds the whole home directory", dir)
	case below:
		return fmt.Sprintf("allows within %s: write ~ for the home directory", dir)
	}
	for _, name := range m.Protected {
		closed, err := at.ResolveTrusted(name)
		if err != nil {
			return fmt.Sprintf("allows within %s while it is not known where %s is", dir, name)
		}
		if overlap(got.Path, closed.Path) {
			return fmt.Sprintf("allows within %s, which reaches the protected %s", dir, name)
		}
	}
	return ""
}

func overlap(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b) // on some disks these are the same
	return pathx.Within(a, b) || pathx.Within(b, a)
}

// patterns says what is wrong with hosts that a rule allows.
func patterns(allowed []string) []string {
	var broken []string
	if len(allowed) == 0 {
		broken = append(broken, "allows no host at all: its list is empty")
	}
	for _, s := range allowed {
		if strings.HasPrefix(s, "@") {
			continue // its values are checked when they are looked up
		}
		p, err := urlx.ParsePattern(s)
		switch {
		case strings.Contains(s, ":"):
			broken = append(broken, fmt.Sprintf("allows %q: a host stands alone, without scheme and port", s))
		case err != nil:
			broken = append(broken, fmt.Sprintf("allows %q, which is no host", s))
		case p.Everywhere():
			broken = append(broken, fmt.Sprintf("allows %q, every host there is", s))
		case p.CoversSuffix() && p.Public():
			broken = append(broken, fmt.Sprintf("allows %q, below which anybody can have a name", s))
		case !p.Public():
			broken = append(broken, fmt.Sprintf("allows %q, which is not one public host", s))
		}
	}
	return broken
}
