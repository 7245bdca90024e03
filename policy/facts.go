package policy

import (
	"context"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
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
	// listsRemotes is true when the call only lists a repository's remotes, and these come
	// from the repository's own configuration and contain no credentials.
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

// collector gathers the facts of calls. It is the only part of an engine that looks at
// the file system.
type collector struct {
	tools    map[toolKey]*tool
	limits   jsonx.Limits
	paths    *pathx.Resolver
	guard    *guard
	around   *gitx.Surroundings
	attached []string // repositories outside the sandbox, resolved
	gitFixed []string
	asking   map[string]bool // Config.Asking
}

// snapshot is the file system as one judgment sees it. Each file is looked up and read
// at most once, for all values of the call and also for its canonical form.
type snapshot struct {
	*collector
	ctx       context.Context // stored because a snapshot lives only as long as one judgment
	view      *pathx.View
	git       *gitx.View
	protected *guardView             // made when the first path needs it
	repos     map[string]*repository // by the directory from which git looks for them
}

// begin begins a judgment. The snapshot has read nothing yet.
func (c *collector) begin(ctx context.Context) *snapshot {
	return &snapshot{collector: c, ctx: ctx, view: c.paths.View(ctx), git: c.around.View(ctx)}
}

// gather finds out what a call names. When it cannot find out, it sets f.refused, and the
// call is denied.
func (s *snapshot) gather(c Call) *facts {
	f := &facts{call: c, tool: s.tool(c.Server, c.Tool)}
	if c.Changed && f.tool != nil {
		f.tool = unannotated(f.tool.key)
	}
	if f.tool == nil {
		f.refused = &refusal{rule: RuleUnknownTool, reason: "the tool is not annotated"}
		return f
	}
	if f.tool.unknown {
		f.refused = (&preparation{snapshot: s, facts: f}).unannotatedCall(c.Arguments)
		return f
	}
	if f.args, f.refused = f.tool.decode(c.Arguments, s.limits); f.refused == nil {
		f.refused = (&preparation{snapshot: s, facts: f}).run()
	}
	return f
}

// err returns why a judgment must be discarded, whatever its verdict, or nil.
func (s *snapshot) err() error {
	if s.ctx.Err() != nil {
		return &refusal{rule: RuleWithdrawn, reason: "the call was withdrawn before it was judged"}
	}
	if err := s.view.Err(); err != nil {
		return &refusal{rule: RuleInvalidPath, reason: err.Error()}
	}
	return nil
}

// Bounds of what one call may name. They are checked before anything is looked up.
const (
	maxElements = 5000      // values
	maxNamed    = 256 << 10 // bytes of paths, references and addresses
)

// checkAmount refuses a call that names more than can be looked up quickly.
func (p *preparation) checkAmount() error {
	values, bytes := 0, 0
	for _, m := range p.args.Members {
		roles := p.tool.args[m.Name].roles
		i := slices.IndexFunc(roles, Role.named)
		if i < 0 {
			continue
		}
		n, b := amountOf(m.Value)
		if values += n; values > maxElements {
			return p.refuse(RuleInvalidArguments, m.Name, roles[i], "", "the call names too many files")
		}
		if bytes += b; bytes > maxNamed {
			return p.refuse(RuleInvalidArguments, m.Name, roles[i], "", "the names in the call are too long to be looked up")
		}
	}
	return nil
}

// amountOf counts the strings in a value and their bytes.
func amountOf(v jsonx.Value) (values, bytes int) {
	if v.Kind == jsonx.String {
		return 1, len(v.Text)
	}
	for _, item := range v.Items {
		n, b := amountOf(item)
		values, bytes = values+n, bytes+b
	}
	return values, bytes
}
