package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// PathCondition is true for paths of the roles that lie within a directory.
type PathCondition struct {
	Roles  []Role `json:"roles"`
	Within string `json:"within"` // absolute, "~" or "~/…"
}

var pathsKind = Kind{
	Name:    "paths",
	Help:    "every path of the roles lies within one directory, written absolute or from ~; never the home directory itself, / or a directory above a protected one; write ~ for the home directory",
	Schema:  `{"type":"object","properties":{"roles":{"type":"array","items":{"type":"string"}},"within":{"type":"string"}},"required":["roles","within"],"additionalProperties":false}`,
	Example: `{"roles":["read-path"],"within":"~/Documents"}`,
	readFrom: func(n *node) Predicate {
		c := &PathCondition{}
		if !n.object() {
			return c
		}
		c.Roles, c.Within = n.required("roles").someRoles(), n.required("within").str()
		for _, r := range c.Roles {
			if !r.IsPath() {
				n.fail("role %q is not a path role", string(r))
			}
		}
		checkWithin(n.optional("within"), c.Within)
		n.done()
		return c
	},
}

func checkWithin(n *node, within string) {
	if n == nil || n.doc.err != nil {
		return
	}
	if within != "~" && !strings.HasPrefix(within, "~/") && !strings.HasPrefix(within, "/") {
		n.fail("%q is neither absolute nor below ~", within)
	}
	if slices.Contains(strings.Split(within, "/"), "..") {
		n.fail("%q contains \"..\"", within)
	}
	if strings.ContainsFunc(within, func(c rune) bool { return c < ' ' || c == 0x7f || c == '*' }) {
		n.fail("%q contains \"*\" or a control character; name one directory, without a pattern", within)
	}
}

// Member is "paths".
func (*PathCondition) Member() string { return "paths" }

// AppliesTo is always true: the condition does not depend on the tool.
func (*PathCondition) AppliesTo(_, _ string) bool { return true }

// Named returns the roles of the paths.
func (c *PathCondition) Named() []Role { return c.Roles }

func (c *PathCondition) String() string { return roleNames(c.Roles) + " within " + c.Within }

// ImpliedBy reports whether the directory of the other rule lies within this one.
func (c *PathCondition) ImpliedBy(other Rule, _ Decision) bool {
	o := Find[*PathCondition](other.If)
	return o != nil && o.inside(c)
}

// inside reports whether the directory lies within that of another condition, as both are
// written.
func (c *PathCondition) inside(o *PathCondition) bool {
	return pathx.Within(path.Clean(c.Within), path.Clean(o.Within))
}

// Meets reports whether one directory lies within the other.
func (c *PathCondition) Meets(other Rule) bool {
	o := Find[*PathCondition](other.If)
	return o == nil || o.inside(c) || c.inside(o)
}

// Limits reports whether paths of the role must lie within the directory.
func (c *PathCondition) Limits(r Role) bool { return slices.Contains(c.Roles, r) }

// Opens returns the directory, with its path and its last element.
func (c *PathCondition) Opens() []Opening {
	return []Opening{{c.Within, []string{c.Within, path.Base(c.Within)}}}
}

// Objections says what is wrong with a directory that a rule allows.
func (c *PathCondition) Objections(homeDir string, protected []string) []string {
	dir, at := c.Within, pathx.Resolver{Home: homeDir}
	got, err := at.ResolveTrusted(dir)
	if err != nil {
		return []string{fmt.Sprintf("allows within %s, which cannot be found: %v", dir, err)}
	}
	home, err := at.ResolveTrusted("~")
	if err != nil {
		return []string{"allows a directory while no home directory is known"}
	}
	below := !strings.HasPrefix(dir, "~") && (pathx.Within(dir, homeDir) || pathx.Within(dir, home.Path))
	switch {
	case pathx.Within(home.Path, got.Path):
		return []string{fmt.Sprintf("allows within %s, which contains the whole home directory", dir)}
	case below:
		return []string{fmt.Sprintf("allows within %s: write ~ for the home directory", dir)}
	}
	for _, name := range protected {
		closed, err := at.ResolveTrusted(name)
		if err != nil {
			return []string{fmt.Sprintf("allows within %s, but the protected %s cannot be found", dir, name)}
		}
		if overlap(got.Path, closed.Path) {
			return []string{fmt.Sprintf("allows within %s, which reaches the protected %s", dir, name)}
		}
	}
	return nil
}

func overlap(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b) // some disks ignore case
	return pathx.Within(a, b) || pathx.Within(b, a)
}

func (c *PathCondition) bind(e *Engine, r Rule) (tests []test, warnings []string) {
	dir, err := e.collector.paths.ResolveTrusted(c.Within)
	within := dir.Path
	switch {
	case err != nil && r.Then == Allow:
		warnings = append(warnings, fmt.Sprintf("rule %s cannot match: %v", r.Name, err))
	case err != nil: // match every path, so that the rule misses no call
		within = "/"
		warnings = append(warnings, fmt.Sprintf("rule %s applies to every path: %v", r.Name, err))
	}
	if r.Then == Allow && e.tooWide(within) {
		warnings = append(warnings, fmt.Sprintf("rule %s allows a directory that contains the home directory or protected files", r.Name))
	}
	return []test{{
		roles: c.Roles, each: true, miss: "no value lies within " + sanitize(within),
		match: func(el *element) bool { return contains(within, el, r.Then) },
	}}, warnings
}

// contains reports whether a path lies within a directory. A rule that escalates or denies
// also matches a directory above its own, if the call reaches the files below that path.
func contains(within string, el *element, then Decision) bool {
	if within == "" {
		return false
	}
	return pathx.Within(el.text, within) || then != Allow && el.far && pathx.Within(within, el.text)
}

// tooWide reports whether a directory contains the home directory or
// something protected.
func (e *Engine) tooWide(dir string) bool {
	if dir == "" {
		return false
	}
	if home, err := e.collector.paths.ResolveTrusted("~"); err == nil && pathx.Within(home.Path, dir) {
		return true
	}
	for _, entry := range e.collector.guard.entries {
		if pathx.Within(entry.resolved.Path, dir) {
			return true
		}
	}
	return false
}
