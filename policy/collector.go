package policy

import (
	"context"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

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
	asking   map[string]bool // servers whose unannotated tools ask
}

// snapshot is the file system as one judgement sees it. Each file is looked up and read
// at most once, for all values of the call and also for its canonical form.
type snapshot struct {
	*collector
	ctx       context.Context // stored because a snapshot lives only as long as one judgement
	view      *pathx.View
	git       *gitx.View
	protected *guardView             // made when the first path needs it
	repos     map[string]*repository // by the directory from which git looks for them
}

// look begins a judgement.
func (c *collector) look(ctx context.Context) *snapshot {
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

// err returns why a judgement must be discarded, whatever its verdict, or nil.
func (s *snapshot) err() error {
	if s.ctx.Err() != nil {
		return &refusal{rule: RuleWithdrawn, reason: "the call was taken back before it was judged"}
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
