package policy

import (
	"fmt"
	"slices"
	"testing"
)

// An escalation separates what the call names from its text, and from arguments that
// choose how the call works.
func TestValuesOfAnEscalation(t *testing.T) {
	w := newWorld(t)
	compiled, annotations := Default()
	e, err := New(Config{Policy: compiled, Annotations: annotations, Sandbox: w.sandbox, Home: w.home})
	if err != nil {
		t.Fatal(err)
	}
	v := e.Evaluate(Call{Server: "filesystem", Tool: "edit_file", Arguments: fmt.Appendf(nil,
		`{"path":"%s/dir/../secret.txt","edits":[{"oldText":"a","newText":"b"}],"dryRun":false}`, w.outside)})
	if v.Decision != Escalate || v.Structural {
		t.Fatalf("%s by %s", v.Decision, v.Rule)
	}
	for _, role := range []Role{ReadPath, WritePath} {
		want := Value{Argument: "path", Role: role, Text: w.outside + "/secret.txt"}
		if !slices.Contains(v.Values, want) {
			t.Errorf("no %+v among %+v", want, v.Values)
		}
	}
	if !slices.Equal(v.Prose, []string{"edits"}) {
		t.Errorf("prose %q: a flag is none, and a path neither", v.Prose)
	}
	v = e.Evaluate(Call{Server: "filesystem", Tool: "write_file", Arguments: fmt.Appendf(nil, `{"path":"%s/.envrc","content":"x"}`, w.sandbox)})
	if v.Decision != Escalate || !v.Structural {
		t.Errorf("%s by %s, structural %v", v.Decision, v.Rule, v.Structural)
	}
	v = e.Evaluate(Call{Server: "filesystem", Tool: "read_file", Arguments: []byte(`{"path":"a.txt"}`)})
	if v.Decision != Allow || v.Values != nil || v.Prose != nil {
		t.Errorf("%s with %+v: an allowed call needs no values", v.Decision, v.Values)
	}
}
