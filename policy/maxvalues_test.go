package policy

import (
	"strings"
	"testing"
)

// TestACallHasABoundOfValues: parsed values take a hundred times the memory of their text.
func TestACallHasABoundOfValues(t *testing.T) {
	compiled, annotations := Default()
	e, err := New(Config{Policy: compiled, Annotations: annotations, Sandbox: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	many := `{"paths":[` + strings.Repeat(`"a",`, maxValues) + `"a"]}`
	v := e.Evaluate(Call{Server: "filesystem", Tool: "read_multiple_files", Arguments: []byte(many)})
	if v.Decision != Deny || v.Rule != RuleInvalidArguments || !strings.Contains(v.Reason, "too many") {
		t.Errorf("%s by %s: %s", v.Decision, v.Rule, v.Reason)
	}
}
