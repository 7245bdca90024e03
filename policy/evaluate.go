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
	value    string // from the call; sanitized before it is shown
	reason   string
}

func (r *refusal) Error() string { return r.reason }

// Evaluate is EvaluateContext with a context that never ends.
func (e *Engine) Evaluate(c Call) Verdict { return e.EvaluateContext(context.Background(), c) }

// EvaluateContext judges a call. It never panics. It denies a call that it cannot
// understand, and a call that it has not judged when ctx ends.
func (e *Engine) EvaluateContext(ctx context.Context, c Call) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Verdict{Decision: Deny, Rule: RuleInvalidRequest, Reason: "the call cannot be judged"}
		}
	}()
	now := e.collector.begin(ctx)
	v, err := e.judge.evaluate(c, now.gather(c))
	if err == nil {
		err = e.confirm(c, v, now)
	}
	if ended := now.err(); ended != nil {
		err = ended
	}
	if err == nil {
		return e.narrow(ctx, c, v)
	}
	return denial(err)
}

// denial is the verdict on a call that is refused.
func denial(err error) Verdict {
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{rule: RuleInvalidRequest, reason: err.Error()}
	}
	v := Verdict{Decision: Deny, Rule: r.rule, Reason: sanitize(r.reason)}
	if r.argument != "" {
		v.Trace = []Step{{
			Argument: sanitize(r.argument), Role: string(r.role), Value: sanitize(r.value),
			Rule: r.rule, Decision: Deny,
		}}
	}
	return v
}

// reasonAnotherMeaning is the reason that confirm gives for a denial.
const reasonAnotherMeaning = "in its canonical form the call means something else"

// confirm judges the canonical arguments, too, if they differ from the arguments of the
// call. It refuses the call unless both get the same verdict. Tools whose values only
// become absolute paths are left out: the kernel resolved these, and each has only one
// canonical spelling.
func (e *Engine) confirm(c Call, v Verdict, now *snapshot) error {
	if v.Decision == Deny || bytes.Equal(v.Arguments, c.Arguments) || !e.collector.tool(c.Server, c.Tool).respells() {
		return nil
	}
	c.Arguments = v.Arguments
	again, err := e.judge.evaluate(c, now.gather(c))
	if err == nil && again.Decision == v.Decision && again.Digest == v.Digest && bytes.Equal(again.Arguments, v.Arguments) {
		return nil
	}
	return &refusal{rule: RuleInvalidArguments, reason: reasonAnotherMeaning}
}

// respells reports whether the tool has a judged argument whose canonical form is not an
// absolute path.
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
func (t *tool) decode(raw []byte, limits jsonx.Limits) (jsonx.Value, error) {
	args := jsonx.Value{Kind: jsonx.Object}
	if len(raw) > 0 {
		var err error
		if args, err = jsonx.Parse(raw, limits); err != nil {
			return args, &refusal{rule: RuleInvalidArguments, reason: "the arguments are refused: " + err.Error()}
		}
	}
	if args.Kind != jsonx.Object {
		return args, &refusal{rule: RuleInvalidArguments, reason: "the arguments are not an object"}
	}
	for _, m := range args.Members {
		_, annotated := t.args[m.Name]
		_, declared := t.schema.Property(m.Name)
		if !annotated || (t.schema.Declares() && !declared) {
			return args, &refusal{rule: RuleInvalidArguments, reason: "the call has an argument that the tool does not have"}
		}
	}
	if err := t.schema.Check(args); err != nil {
		return args, &refusal{rule: RuleInvalidArguments, reason: err.Error()}
	}
	if !t.schema.Declares() && t.traits.SandboxFiles && !t.traits.Git && t.missesPath(args) {
		return args, &refusal{rule: RuleInvalidArguments, reason: "the call leaves out a file that the tool needs"}
	}
	return args, nil
}

// missesPath reports whether the call leaves out an argument that is a path.
func (t *tool) missesPath(args jsonx.Value) bool {
	for name, arg := range t.args {
		if _, present := args.Member(name); !present && hasPathRole(arg.roles) {
			return true
		}
	}
	return false
}

// outcome is a decision from which a verdict is made.
type outcome struct {
	decision Decision
	rule     string
	reason   string
	roles    []string
	trace    []Step
	// structural is true when a structural rule escalated.
	structural bool
}

// merge adds the other outcome to o. The other's decision replaces that of o if it is more
// severe, or if it is equal and o has no rule yet or only the sandbox rule.
func (o *outcome) merge(other outcome) {
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
