package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// facts are what a judgement rests on: all that had to be looked up for one call. They
// are gathered before it and handed in.
type facts struct {
	call     Call
	tool     *tool       // nil: it is not annotated
	args     jsonx.Value // canonical, once all is gathered
	roles    []Role      // of the call, distinct, in the order of the arguments
	elements []element
	root     pathx.Resolved // the repository argument of a git call
	rootRole []Role
	programs []string // what the repository would run
	// tellsRemotes says that the call shows the remotes of a repository, and of them no
	// more than the repository's own configuration, in which no credentials are.
	tellsRemotes bool
	refused      error // why the call is denied, or a fact could not be gathered
}

// element is one value of one role, in the form in which it is judged.
type element struct {
	argument string
	role     Role
	text     string
	target   *urlx.Target // of a URL or a resolved remote
	path     bool
	sandbox  bool   // a path inside the sandbox
	far      bool   // a path whose call goes on to what lies below
	executes string // why writing it would run something on the host, or ""
}

// add records an element for each of the roles.
func (f *facts) add(roles []Role, el element) {
	for _, r := range roles {
		el.role = r
		f.elements = append(f.elements, el)
	}
}

func (f *facts) hasValue(role Role) bool {
	return slices.ContainsFunc(f.elements, func(el element) bool { return el.role == role })
}
