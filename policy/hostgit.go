package policy

import (
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// gitObeys returns why git on the host would run or obey a file, or the files below a
// directory, because git's configuration names them. It returns "" if git would not.
func (p *preparation) gitObeys(r pathx.Resolved) string {
	states := make([]gitx.Dir, len(r.Idents()))
	for i, id := range r.Idents() {
		states[i] = gitx.Dir{Dev: id.Dev, Ino: id.Ino, Changed: r.Changed()[i]}
	}
	named, err := p.git.Obeyed(r.Path, states)
	for _, o := range named {
		if o.Names(r.Path, r.Exists) || o.Name != "" && p.reaches(r, o.Name) {
			return o.Why
		}
	}
	if err != nil {
		return "what git would run there cannot be told: " + err.Error()
	}
	return ""
}

// reaches reports whether writing to r can change the file that a name resolves to. If r
// does not exist yet, it may be created as a directory with files in it.
func (p *preparation) reaches(r pathx.Resolved, name string) bool {
	to, err := p.view.ResolveTrusted(name)
	if err != nil {
		return within(r.Path, filepath.Clean(name))
	}
	return within(r.Path, to.Path) ||
		to.Exists && slices.Contains(r.Idents(), to.Ident) ||
		!to.Exists && !r.Exists && within(to.Path, r.Path)
}
