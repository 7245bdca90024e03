package policy

import (
	"bytes"

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
		return Verdict{}, &refusal{rule: RuleInvalidRequest, reason: "the call cannot be judged by what was gathered of another"}
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
