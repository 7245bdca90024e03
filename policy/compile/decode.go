package compile

import (
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// answerLimits bound a model's answer.
var answerLimits = jsonx.Limits{Bytes: maxAnswer, Depth: 16, Members: 20_000}

// parse reads an answer: one object with exactly the members that were asked for.
func parse(answer string, members ...string) (map[string]jsonx.Value, error) {
	v, err := jsonx.Parse([]byte(answer), answerLimits)
	if err != nil {
		return nil, err
	}
	return fields(v, members...)
}

// fields returns the members of an object, which must be exactly the named ones.
func fields(v jsonx.Value, members ...string) (map[string]jsonx.Value, error) {
	if v.Kind != jsonx.Object {
		return nil, errors.New("expected an object, found " + v.Kind.String())
	}
	out := map[string]jsonx.Value{}
	for _, name := range members {
		got, ok := v.Member(name)
		if !ok {
			return nil, errors.New("member \"" + name + "\" is missing")
		}
		out[name] = got
	}
	if len(v.Members) != len(members) {
		return nil, errors.New("there are members that were not asked for")
	}
	return out, nil
}

// decodeProposal reads proposed rules as strictly as a policy is loaded.
func decodeProposal(answer string) (*policy.Compiled, error) {
	got, err := parse(answer, "rules", "listDefinitions")
	if err != nil {
		return nil, err
	}
	return loadRules(got["rules"], got["listDefinitions"])
}

// loadRules reads rules and lists as package policy reads a policy.
func loadRules(rules, lists jsonx.Value) (*policy.Compiled, error) {
	withoutNulls(&rules)
	doc := jsonx.Value{Kind: jsonx.Object, Members: []jsonx.Member{{Name: "rules", Value: rules}, {Name: "listDefinitions", Value: lists}}}
	return policy.ParseCompiled("the answer", doc.Encode())
}

// withoutNulls removes members of conditions that are null. A model writes null for a
// predicate that a rule does not have.
func withoutNulls(rules *jsonx.Value) {
	rules.Items = append([]jsonx.Value(nil), rules.Items...)
	for i := range rules.Items {
		condition, ok := rules.Items[i].Member("if")
		if !ok || condition.Kind != jsonx.Object {
			continue
		}
		var kept []jsonx.Member
		for _, m := range condition.Members {
			if m.Value.Kind != jsonx.Null {
				kept = append(kept, m)
			}
		}
		condition.Members = kept
		rules.Items[i] = rules.Items[i].With("if", condition)
	}
}
