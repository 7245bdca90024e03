package policy

import (
	"bytes"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// judge decides about calls by the facts that were gathered about them. It is pure: the
// same facts always give the same verdict.
type judge struct {
	gates   map[string][]urlx.Pattern // by server
	maxCall int
}

// evaluate judges a call by its facts. It returns structural denials as errors. It denies
// the call if the facts are missing or belong to another call.
func (j *judge) evaluate(c Call, f *facts) (Verdict, error) {
	switch {
	case f == nil || f.call.Server != c.Server || f.call.Tool != c.Tool || f.call.WorkDir != c.WorkDir || f.call.Signs != c.Signs || f.call.Unsigned != c.Unsigned || f.call.Changed != c.Changed || !bytes.Equal(f.call.Arguments, c.Arguments):
		return Verdict{}, &refusal{rule: RuleInvalidRequest, reason: "the facts of the call are missing, or belong to another call"}
	case f.refused != nil:
		return Verdict{}, f.refused
	}
	if f.tool.unknown {
		reason := "nobody has annotated the tool, so it is not known what the call would do"
		if c.Changed {
			reason = "the tool has changed since it was annotated, so it is not known what the call would do"
		}
		return j.verdict(f, outcome{decision: Escalate, rule: RuleUnannotated, reason: reason})
	}
	if err := f.tool.schema.CheckCanonical(f.args); err != nil {
		return Verdict{}, &refusal{rule: RuleInvalidArguments, reason: "in its canonical form the call does not fit the tool: " + err.Error()}
	}
	if c.Server == "filesystem" && c.Tool == "list_allowed_directories" && len(f.args.Members) == 0 {
		return j.verdict(f, outcome{decision: Allow, rule: RuleIntrospection, reason: "the call only asks which directories are open"})
	}
	return j.verdict(f, j.decide(f))
}

// verdict makes the verdict from an outcome and the canonical arguments.
func (j *judge) verdict(f *facts, o outcome) (Verdict, error) {
	v := Verdict{Decision: o.decision, Rule: o.rule, Reason: o.reason, Trace: o.trace}
	if o.decision == Deny {
		return v, nil
	}
	v.Arguments, v.Signs = f.args.Encode(), f.signs()
	if len(v.Arguments) > j.maxCall {
		return Verdict{}, &refusal{rule: RuleInvalidArguments, reason: "the canonical arguments are too large"}
	}
	if o.decision == Escalate {
		v.Roles = o.roles
		v.Structural = o.structural
		v.Values, v.Prose = f.values(), f.prose()
		v.Contacts = f.contacts(v.Values)
	}
	v.Digest = f.bind(v.Arguments)
	if dir, _ := f.args.Member(f.tool.behavior.Enters); f.tool.traits.Git && dir.Kind == jsonx.String {
		v.Enters = dir.Text
	}
	return v, nil
}

// bind computes the digest of what was judged.
func (f *facts) bind(arguments []byte) string {
	parts := [][]byte{[]byte(f.call.Server), []byte(f.call.Tool), arguments}
	for _, el := range f.elements {
		parts = append(parts, []byte(el.argument), []byte(el.role), []byte(el.text))
	}
	if key := f.signs(); key != "" {
		parts = append(parts, []byte("signs"), []byte(key))
	}
	return digest(parts...)
}

// gate escalates addresses that the server's sandbox does not let it reach. It never
// allows anything.
func (j *judge) gate(f *facts, o *outcome) {
	patterns, gated := j.gates[f.call.Server]
	if !gated {
		return
	}
	for i := range f.elements {
		el := &f.elements[i]
		if !el.role.IsURL() || matchAny(patterns, el, Allow) {
			continue
		}
		o.escalate(outcome{
			decision: Escalate, rule: RuleDomain, roles: []string{string(el.role)},
			reason: describe("%q goes to a host that the server %q is not meant to reach", el.argument, f.call.Server),
			trace:  []Step{el.step(RuleDomain, Escalate)},
		})
		return
	}
}

// hostExecution escalates calls after which a program could run on the host: writing
// files that programs of the host obey, and working on a repository that configures
// programs of its own.
func (f *facts) hostExecution(o *outcome) {
	for i := range f.elements {
		el := &f.elements[i]
		if el.executes == "" {
			continue
		}
		o.escalate(outcome{
			decision: Escalate, rule: RuleHostExecution, roles: []string{string(el.role)},
			reason: describe("writing %s could run a program on the host: %s", el.text, el.executes),
			trace:  []Step{el.step(RuleHostExecution, Escalate)},
		})
	}
	if len(f.programs) > 0 {
		names := sanitize(strings.Join(f.programs, ", "))
		step := Step{Argument: "path", Role: string(firstPath(f.rootRole)), Value: sanitize(f.root.Path), Rule: RuleHostExecution, Decision: Escalate}
		o.escalate(outcome{
			decision: Escalate, rule: RuleHostExecution, roles: []string{string(firstPath(f.rootRole))},
			reason: describe("the repository brings programs that git would run on the host: %s", names), trace: []Step{step},
		})
	}
}

// signing escalates a call whose commit the host would sign with the person's key, and a
// call whose commits would lack the signature that they should have. A grant can cover such
// a call, because the key signs nothing but that commit.
func (f *facts) signing(o *outcome) {
	structural := o.structural
	switch {
	case f.signs() != "":
		what := "this commit"
		if f.tool.can(derives) {
			what = "the commits that this call makes"
		}
		o.escalate(outcome{
			decision: Escalate, rule: RuleSignedCommit,
			reason: describe("your git configuration signs commits, so the host would sign %s with your %s", what, f.call.Signs),
		})
	case f.call.Unsigned && f.tool.does(derives, f.args):
		o.escalate(outcome{
			decision: Escalate, rule: RuleUnsignedCommit,
			reason: describe("your git configuration signs commits, but the commits that git %s makes here are not signed: the host cannot compare them with what you approve", f.tool.behavior.Command),
		})
	}
	o.structural = structural
}

// signs names the key with which the host signs the commits that the call makes. It is empty
// if the call makes none.
func (f *facts) signs() string {
	if f.tool.can(derives) && !f.tool.does(derives, f.args) {
		return ""
	}
	return f.call.Signs
}

// unseenHosts escalates a clone that also fetches the repository's submodules. Only the
// repository says where they come from, and it is not on this machine yet.
func (f *facts) unseenHosts(o *outcome) {
	if !f.tool.traits.Git || !f.tool.can(creates) {
		return
	}
	for _, m := range f.args.Members {
		name := strings.ToLower(m.Name)
		if !truthy(m.Value) || !strings.Contains(name, "submodule") && name != "recursive" && name != "recurse" {
			continue
		}
		o.escalate(outcome{
			decision: Escalate, rule: RuleDomain, roles: []string{string(GitRemote)},
			reason: "the submodules come from hosts that only the repository names",
			trace:  []Step{{Argument: sanitize(m.Name), Role: string(None), Rule: RuleDomain, Decision: Escalate}},
		})
	}
}

// escalate merges a structural escalation into o, unless o is a denial. The rule and
// reason of the first structural escalation are kept.
func (o *outcome) escalate(s outcome) {
	already := o.decision == Escalate && strings.HasPrefix(o.rule, "structural-")
	rule, reason := o.rule, o.reason
	o.merge(s)
	if o.decision == Escalate {
		o.structural = true
		o.rule, o.reason = s.rule, s.reason
		if already {
			o.rule, o.reason = rule, reason
		}
	}
}
