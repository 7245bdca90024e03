package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// documentedDefaults adds the default values of the tool's schema for arguments that the
// call leaves out and whose values name something. So the value that the server will use
// is judged, and the forwarded call contains it.
func (p *preparation) documentedDefaults() {
	for _, name := range p.tool.names {
		if v, present := p.args.Member(name); present && v.Kind != jsonx.Null {
			continue
		}
		if p.tool.traits.Git && name == "path" {
			continue // gitDirectory puts in the working directory
		}
		declared, _ := p.tool.schema.Property(name)
		value, ok := declared.Member("default")
		if !ok || (value.Kind != jsonx.String || value.Text == "") && (value.Kind != jsonx.Array || len(value.Items) == 0) {
			continue
		}
		named := func(r Role) bool { return r.Judged() || r == RepoPath }
		if slices.ContainsFunc(p.tool.args[name].resolve(p.args, p.tool.schema), named) {
			p.args = p.args.With(name, value)
		}
	}
}
