package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// refusal ends a judgment with a denial.
type refusal struct {
	rule     string
	argument string
	role     Role
	value    string // as it was written; sanitized before it is shown
	reason   string
}

func (r *refusal) Error() string { return r.reason }

// Evaluate is EvaluateContext without an end.
func (e *Engine) Evaluate(c Call) Verdict { return e.EvaluateContext(context.Background(), c) }

// EvaluateContext judges a call. It never panics, and it answers anything that it
// cannot understand with a denial, as it does when ctx ends before it has judged.
func (e *Engine) EvaluateContext(ctx context.Context, c Call) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Verdict{Decision: Deny, Rule: RuleInvalidRequest, Reason: "the call cannot be judged"}
		}
	}()
	now := e.look(ctx)
	v, err := e.judge(c, now)
	if err == nil {
		err = e.confirm(c, v, now)
	}
	if ended := now.err(); ended != nil {
		err = ended
	}
	if err == nil {
		return v
	}
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{rule: RuleInvalidRequest, reason: err.Error()}
	}
	v = Verdict{Decision: Deny, Rule: r.rule, Reason: sanitize(r.reason)}
	if r.argument != "" {
		v.Trace = []Step{{
			Argument: sanitize(r.argument), Role: string(r.role), Value: sanitize(r.value),
			Rule: r.rule, Decision: Deny,
		}}
	}
	return v
}

// judge is Evaluate with denials by structure as errors.
func (e *Engine) judge(c Call, now *snapshot) (Verdict, error) {
	t, ok := e.tools[toolKey{c.Server, c.Tool}]
	if !ok {
		return Verdict{}, &refusal{rule: RuleUnknownTool, reason: "the tool is not annotated"}
	}
	args, err := e.decode(c.Arguments, t)
	if err != nil {
		return Verdict{}, err
	}
	p := &preparation{engine: e, tool: t, call: c, args: args, snapshot: now}
	if err := p.run(); err != nil {
		return Verdict{}, err
	}
	if err := t.schema.checkCanonical(p.args); err != nil {
		return Verdict{}, &refusal{rule: RuleInvalidArguments, reason: "in its canonical form the call is none for the tool: " + err.Error()}
	}
	if c.Server == "filesystem" && c.Tool == "list_allowed_directories" && len(args.Members) == 0 {
		return e.verdict(p, outcome{decision: Allow, rule: RuleIntrospection, reason: "the call only asks which directories are open"})
	}
	return e.verdict(p, e.decide(p))
}

// reasonAnotherMeaning is why confirm refuses.
const reasonAnotherMeaning = "in its canonical form the call means something else"

// confirm judges what will be forwarded when it is spelled in another way than what
// was asked, and refuses it unless it means the very same. Absolute paths are left
// out: there is but one spelling of them, and the kernel was asked for it.
func (e *Engine) confirm(c Call, v Verdict, now *snapshot) error {
	if v.Decision == Deny || bytes.Equal(v.Arguments, c.Arguments) || !e.tools[toolKey{c.Server, c.Tool}].respells() {
		return nil
	}
	c.Arguments = v.Arguments
	again, err := e.judge(c, now)
	if err == nil && again.Decision == v.Decision && again.Digest == v.Digest && bytes.Equal(again.Arguments, v.Arguments) {
		return nil
	}
	return &refusal{rule: RuleInvalidArguments, reason: reasonAnotherMeaning}
}

// respells reports whether an argument that is judged has a canonical form other than
// an absolute path.
func (t *tool) respells() bool {
	for _, arg := range t.args {
		for _, r := range arg.roles {
			if r == RepoPath || r.Judged() && !r.IsPath() {
				return true
			}
		}
	}
	return false
}

// decode reads the arguments and checks their names and shapes.
func (e *Engine) decode(raw []byte, t *tool) (jsonx.Value, error) {
	args := jsonx.Value{Kind: jsonx.Object}
	if len(raw) > 0 {
		var err error
		if args, err = jsonx.Parse(raw, e.limits); err != nil {
			return args, &refusal{rule: RuleInvalidArguments, reason: "the arguments are refused: " + err.Error()}
		}
	}
	if args.Kind != jsonx.Object {
		return args, &refusal{rule: RuleInvalidArguments, reason: "the arguments are not an object"}
	}
	for _, m := range args.Members {
		_, annotated := t.args[m.Name]
		_, declared := t.schema.property(m.Name)
		if !annotated || (t.schema.declares() && !declared) {
			return args, &refusal{rule: RuleInvalidArguments, reason: "the call has an argument that the tool does not have"}
		}
	}
	if err := t.schema.check(args); err != nil {
		return args, &refusal{rule: RuleInvalidArguments, reason: err.Error()}
	}
	if !t.schema.declares() && t.traits.SandboxFiles && !t.traits.Git && t.missesPath(args) {
		return args, &refusal{rule: RuleInvalidArguments, reason: "the call leaves out a file that the tool needs"}
	}
	return args, nil
}

// missesPath reports whether the call leaves out a path of the tool.
func (t *tool) missesPath(args jsonx.Value) bool {
	for name, arg := range t.args {
		if _, present := args.Member(name); !present && hasPathRole(arg.roles) {
			return true
		}
	}
	return false
}

// verdict writes down an outcome together with the canonical arguments.
func (e *Engine) verdict(p *preparation, o outcome) (Verdict, error) {
	v := Verdict{Decision: o.decision, Rule: o.rule, Reason: o.reason, Trace: o.trace}
	if o.decision == Deny {
		return v, nil
	}
	v.Arguments = p.args.Encode()
	if len(v.Arguments) > e.maxCall() {
		return Verdict{}, &refusal{rule: RuleInvalidArguments, reason: "the canonical arguments are too large"}
	}
	if o.decision == Escalate {
		v.Roles = o.roles
		v.Structural = o.structural
		v.Values, v.Prose = p.values(), p.prose()
	}
	v.Digest = e.bind(p, v.Arguments)
	if dir, _ := p.args.Member(p.tool.effects.Enters); p.tool.traits.Git && dir.Kind == jsonx.String {
		v.Enters = dir.Text
	}
	return v, nil
}

func (e *Engine) maxCall() int {
	if e.config.MaxCall > 0 {
		return e.config.MaxCall
	}
	return jsonx.DefaultBytes
}

// bind computes the digest of what was judged.
func (e *Engine) bind(p *preparation, arguments []byte) string {
	parts := [][]byte{[]byte(p.call.Server), []byte(p.call.Tool), arguments}
	for _, el := range p.elements {
		parts = append(parts, []byte(el.argument), []byte(el.role), []byte(el.text))
	}
	return digest(parts...)
}

// outcome is a decision on its way to becoming a verdict.
type outcome struct {
	decision Decision
	rule     string
	reason   string
	roles    []string
	trace    []Step
	// structural tells that a structural rule escalated.
	structural bool
}

// worsen takes over the other outcome when it is more severe, or when it is
// as severe and names a compiled rule where this one has only a structural
// allowance to show.
func (o *outcome) worsen(other outcome) {
	o.trace = append(o.trace, other.trace...)
	if other.decision == Escalate {
		for _, r := range other.roles {
			if !slices.Contains(o.roles, r) {
				o.roles = append(o.roles, r)
			}
		}
	}
	worse := other.decision.severity() > o.decision.severity()
	tie := other.decision == o.decision && (o.rule == "" || o.rule == RuleSandbox)
	if worse || tie {
		o.decision, o.rule, o.reason = other.decision, other.rule, other.reason
	}
}

// describe formats a reason and makes it safe to print.
func describe(format string, args ...any) string { return sanitize(fmt.Sprintf(format, args...)) }
