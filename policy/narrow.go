package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Narrowing is a policy that judges the calls of one session together with another policy,
// the outer one. The more severe verdict counts, so it can only be stricter.
type Narrowing struct {
	Dir    string
	Policy *Compiled
	Lists  *Lists // may be nil
}

// LoadNarrowing reads a policy directory. It returns an error that names the first rule by
// which the policy would allow more than the outer one. Calls are judged by the outer
// policy's annotations, so the directory must not contain others.
func LoadNarrowing(dir string, outer *Compiled, a *Annotations) (Narrowing, error) {
	c, lists, err := LoadDir(dir)
	if err != nil {
		return Narrowing{}, err
	}
	file := filepath.Join(dir, "tool-annotations.json")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		own, err := LoadAnnotations(file)
		if err != nil {
			return Narrowing{}, err
		}
		if !bytes.Equal(own.raw, a.raw) {
			return Narrowing{}, &LoadError{
				File: file, Err: errors.New("these are not the annotations of the multiplexer's policy"),
				hint: "remove the file; calls are judged by the multiplexer's annotations",
			}
		}
	}
	if err := c.narrows(outer, a); err != nil {
		return Narrowing{}, &LoadError{
			File: filepath.Join(dir, "compiled-policy.json"), Err: err,
			hint: "narrow or remove the rule; this policy can only be stricter than the multiplexer's own",
		}
	}
	return Narrowing{Dir: dir, Policy: c, Lists: lists}, nil
}

// narrows returns an error that names the first rule that allows more than the outer
// policy, as far as the rules show it. It ignores the values of dynamic lists. No verdict
// depends on this, because both policies judge each call.
func (c *Compiled) narrows(outer *Compiled, a *Annotations) error {
	for _, server := range a.Servers() {
		for _, t := range a.Describe(server) {
			roles := slices.DeleteFunc(t.Roles(), func(r Role) bool { return !r.Judged() })
			if len(roles) == 0 {
				roles = []Role{""} // the call as a whole
			}
			for _, role := range roles {
				own, others := about(c.Rules, server, t.Name, role), about(outer.Rules, server, t.Name, role)
				for i, r := range own {
					if r.Then != Allow {
						continue
					}
					if by := objection(r, own[:i], others, role); by != "" {
						return fmt.Errorf("rule %s would widen the multiplexer's policy: it allows calls of %s/%s that %s", r.Name, server, t.Name, by)
					}
				}
			}
		}
	}
	return nil
}

// about returns the rules that take part while a role of a tool is judged.
func about(rules []Rule, server, tool string, role Role) []Rule {
	var out []Rule
	for _, r := range rules {
		if r.If.AppliesTo(server, tool) && r.TakesPart(role) {
			out = append(out, r)
		}
	}
	return out
}

// objection returns why the outer rules do not allow all values that a rule allows, or "".
// before are the earlier rules of its own policy, which may already hold these values back.
func objection(allows Rule, before, outer []Rule, role Role) string {
	for _, o := range outer {
		if o.Then == Allow {
			if o.Includes(allows, role) {
				return ""
			}
			continue
		}
		held := func(r Rule) bool { return r.Then.severity() >= o.Then.severity() && r.Includes(o, role) }
		if o.If.Meets(allows) && !slices.ContainsFunc(before, held) {
			return "the multiplexer's rule " + o.Name + " holds back (" + string(o.Then) + ")"
		}
	}
	return "no rule of the multiplexer's policy allows"
}

// TakesPart reports whether the rule takes part while a role is judged. The empty role means a call
// of a tool without judged roles.
func (r Rule) TakesPart(role Role) bool {
	if role == "" {
		return len(r.If.Named()) == 0
	}
	return r.If.TakesPart(role)
}

// Includes reports whether the rule applies to everything that the other applies to while
// a role is judged in which both take part.
func (r Rule) Includes(other Rule, role Role) bool {
	if role.IsURL() && r.Then == Allow && !r.If.Limits(role) && (other.Then != Allow || other.If.Limits(role)) {
		return false // a rule that does not limit addresses allows none
	}
	return !slices.ContainsFunc(r.If, func(p Predicate) bool { return !p.ImpliedBy(other, r.Then) })
}

// narrow lets the narrowing policies judge a call, too, and returns the most severe verdict.
func (e *Engine) narrow(ctx context.Context, c Call, v Verdict) Verdict {
	for _, n := range e.narrowings {
		if v.Decision == Deny {
			return v
		}
		v = stricter(v, n.EvaluateContext(ctx, c))
	}
	return v
}

// stricter returns the more severe of two verdicts on a call. It is a denial when the call
// meant something else when it was judged the second time.
func stricter(a, b Verdict) Verdict {
	switch {
	case b.Decision.severity() > Escalate.severity():
		return b
	case a.Digest != b.Digest || !bytes.Equal(a.Arguments, b.Arguments):
		return denial(&refusal{rule: RuleInvalidArguments, reason: "what the call names has changed while it was judged"})
	case a.Decision == Allow:
		return b
	case b.Decision == Allow:
		return a
	}
	a.Structural = a.Structural || b.Structural
	for _, role := range b.Roles {
		if !slices.Contains(a.Roles, role) {
			a.Roles = append(a.Roles, role)
		}
	}
	return a
}
