package policy

import (
	"bytes"
	"encoding/json"
	"testing"
)

// one has, for each kind, a condition with only that predicate.
var one = map[string]string{
	"server": `["git"]`, "tool": `["git_log"]`, "roles": `["read-path"]`, "paths": `{"roles":["read-path"],"within":"~/x"}`,
	"domains": `{"roles":["fetch-url"],"allowed":["go.dev"]}`, "lists": `[{"roles":["email-address"],"allowed":["a@b.example"],"matchType":"emails"}]`,
}

// Every kind of predicate reads what it writes, has its kind's name, and describes itself.
func TestKindsOfPredicates(t *testing.T) {
	for _, k := range Kinds() {
		text := `{"` + k.Name + `":` + one[k.Name] + `}`
		c, err := ParseCompiled("one.json", []byte(`{"rules":[{"name":"r","if":`+text+`,"then":"deny"}]}`))
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		condition := c.Rules[0].If
		if len(condition) != 1 || condition[0].Member() != k.Name {
			t.Errorf("%s is read as %+v", k.Name, condition)
		}
		if again, err := json.Marshal(condition); err != nil || !bytes.Equal(again, []byte(text)) {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
		if k.Help == "" || !json.Valid([]byte(k.Schema)) || k.Example != "" && !json.Valid([]byte(k.Example)) {
			t.Errorf("%s does not describe itself: %+v", k.Name, k)
		}
	}
}

// A condition is always written in the same order, whatever the order of its predicates.
func TestConditionsAreWrittenInOneOrder(t *testing.T) {
	got, err := json.Marshal(Condition{&PathCondition{[]Role{ReadPath}, "/x"}, Tools{"a"}, Servers{"<b>"}})
	want := `{"server":["\u003cb\u003e"],"tool":["a"],"paths":{"roles":["read-path"],"within":"/x"}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
