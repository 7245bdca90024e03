package gitx

import "strings"

// DirectiveKind says what a Directive's value is.
type DirectiveKind uint8

// The kinds.
const (
	Program    DirectiveKind = iota // a command, or something that selects one
	Include                         // a file of more configuration, relative to the one that names it
	Hooks                           // a directory of hooks, relative to the work tree
	Attributes                      // a file of attributes, relative to the work tree
	WorkTree                        // the work tree, relative to the repository
)

// Directive is a variable of a configuration file that makes git run a program, obey
// another file or work in another directory.
type Directive struct {
	Name  string // without a subsection: "filter.*.clean"
	Value string
	Kind  DirectiveKind
}

// directiveKinds are the variables whose kind is not Program.
var directiveKinds = map[string]DirectiveKind{
	"include.path": Include, "includeif.path": Include, "core.hookspath": Hooks,
	"core.attributesfile": Attributes, "core.worktree": WorkTree,
}

// Directives returns the directives in the content of a configuration file, in its order.
func Directives(data []byte) ([]Directive, error) {
	c, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	var all []Directive
	for _, e := range c.entries {
		kind, other := directiveKinds[e.section+"."+e.name]
		if other || e.startsProgram() || e.helpsRemote() {
			all = append(all, Directive{Name: e.family(), Value: e.value, Kind: kind})
		}
	}
	return all, nil
}

// helpsRemote reports whether the variable makes git start a program to reach a remote.
func (e entry) helpsRemote() bool {
	if e.section != "remote" {
		return false
	}
	switch e.name {
	case "uploadpack", "receivepack", "vcs":
		return true
	case "url", "pushurl":
		return strings.Contains(e.value, "::")
	}
	return false
}
