package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// facts are everything that was looked up about one call. The collector gathers them, and
// the judge decides by them alone.
type facts struct {
	call     Call
	tool     *tool       // nil: the tool is not annotated
	args     jsonx.Value // canonical, once all facts are gathered
	roles    []Role      // of the call, distinct, in the order of the arguments
	elements []element
	root     pathx.Resolved // the repository argument of a git call
	rootRole []Role
	programs []string // programs that git would run for the repository
	// listsRemotes is true when the call only lists a repository's remotes, as its own
	// configuration has them, and that configuration contains no credentials.
	listsRemotes bool
	refused      error // why the call is denied, or why a fact could not be gathered
}

// element is one value of one role, in the form in which it is judged.
type element struct {
	argument string
	role     Role
	text     string
	target   *urlx.Target // of a URL or a resolved remote
	path     bool
	sandbox  bool   // a path inside the sandbox
	far      bool   // a path; the call also reaches the files below it
	executes string // why writing to the path would run something on the host, or ""
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
