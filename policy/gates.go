package policy

import (
	"strings"
)

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

// signing escalates a call whose commit the host would sign with a key of the person's, and
// one whose commits would lack the signature that they should have. A grant can cover such
// a call: a key is used for nothing but the commit.
func (f *facts) signing(o *outcome) {
	structural := o.structural
	switch {
	case f.signs() != "":
		what := "this one"
		if f.tool.can(derives) {
			what = "what this makes"
		}
		o.escalate(outcome{
			decision: Escalate, rule: RuleSignedCommit,
			reason: describe("your git configuration signs commits, so the host would sign %s with your %s", what, f.call.Signs),
		})
	case f.call.Unsigned && f.tool.does(derives, f.args):
		o.escalate(outcome{
			decision: Escalate, rule: RuleUnsignedCommit,
			reason: describe("your git configuration signs commits, and those that git %s makes here are not signed: the host cannot compare them with what you approve", f.tool.behavior.Command),
		})
	}
	o.structural = structural
}

// signs says with which key the host signs what the call makes. It is empty if that is no
// commit.
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
