// Package grant holds what a person allowed beforehand: for one session, within
// a stated scope, until a stated time.
//
// A grant answers a call that the policy has escalated, and nothing else: a
// denial stays a denial, and a call that a structural rule escalated is always
// for a person. Scopes are narrow. Each is made from one call that a person saw,
// says in full what it would let through, and compares canonical judged values:
// every value the call names, every flag, number and mode must be as it was; only
// arguments that are text and nothing else may differ. Grants live in memory
// and end with their session.
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
}

// CallOf is the call a verdict is about.
func CallOf(session, server, tool string, v policy.Verdict) Call {
	return Call{
		Session: session, Server: server, Tool: tool,
		Arguments: v.Arguments, Digest: v.Digest, Values: v.Values, Prose: v.Prose,
		Structural: v.Structural || v.Decision != policy.Escalate,
	}
}

// slot is where a value stands and what it means there.
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

// rest are the arguments that are neither values nor prose, as they are written.
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
