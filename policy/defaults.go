package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// documentedDefaults puts in what the tool's schema says it takes for an
// argument that the call leaves out, when the argument names something: what
// the server will use is judged, and it is told to use just that.
func (p *preparation) documentedDefaults() {
	for _, name := range p.tool.names {
		if v, present := p.args.Member(name); present && v.Kind != jsonx.Null {
			continue
		}
		if p.tool.traits.Git && name == "path" {
			continue // the working directory, which is known better
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
