package grant

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Call is an escalated call as the policy judged it.
type Call struct {
	Session    string
	Server     string
	Tool       string
	Arguments  json.RawMessage // canonical
	Digest     string
	Values     []policy.Value
	Prose      []string
	Structural bool
	// Unannotated is true when nobody has annotated the tool, so that the call names no values to
	// which a grant could be limited.
	Unannotated bool
}

// CallOf returns the call of a verdict.
func CallOf(session, server, tool string, v policy.Verdict) Call {
	return Call{
		Session: session, Server: server, Tool: tool,
		Arguments: v.Arguments, Digest: v.Digest, Values: v.Values, Prose: v.Prose,
		Structural:  v.Structural || v.Decision != policy.Escalate,
		Unannotated: v.Rule == policy.RuleUnannotated,
	}
}

// slot is an argument and one role of its values.
type slot struct {
	argument string
	role     policy.Role
}

// slots groups the values of a call.
func (c Call) slots() map[slot][]policy.Value {
	out := map[slot][]policy.Value{}
	for _, v := range c.Values {
		at := slot{v.Argument, v.Role}
		out[at] = append(out[at], v)
	}
	return out
}

// rest returns the arguments that are neither values nor free text, as JSON.
func (c Call) rest() (map[string]string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &all); err != nil {
		return nil, err
	}
	for _, v := range c.Values {
		delete(all, v.Argument)
	}
	for _, name := range c.Prose {
		delete(all, name)
	}
	out := map[string]string{}
	for name, raw := range all {
		out[name] = string(raw)
	}
	return out, nil
}
