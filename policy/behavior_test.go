package policy

import (
	"strings"
	"testing"
	"time"
)

// behaviorOf reads annotations of one git tool with this behavior, or without any.
func behaviorOf(t *testing.T, name, behavior string) (*Annotations, error) {
	t.Helper()
	if behavior != "" {
		behavior = `"behavior":` + behavior + `,`
	}
	return ParseAnnotations("a.json", []byte(`{"servers":{"git":{"tools":[{"toolName":"`+name+`",`+behavior+
		`"args":{"path":["read-path","write-path"],"paths":["repo-relative-path"]},"inputSchema":{"properties":{
		"path":{"type":"string"},"paths":{"type":"array","items":{"type":"string"}}}}}]}}}`))
}

// A tool has the behavior in its annotation, whatever its name is. Without one it has the
// usual behavior for its name.
func TestBehaviorOfTools(t *testing.T) {
	w := newWorld(t)
	w.write("iron/sessions/s1/sandbox/repo/.envrc", "")
	for _, c := range []struct {
		name, behavior string
		want           Decision
	}{
		{"put_back", "", Allow}, // it only names the file
		{"put_back", `{"restores":true}`, Escalate},
		{"put_back", `{"restores":[{"paths":"empty"}]}`, Escalate}, // restoring in some calls is enough
		{"put_back", `{"restores":false}`, Allow},
		{"git_restore", "", Escalate},
		{"git_restore", `{}`, Allow},
	} {
		a, err := behaviorOf(t, c.name, c.behavior)
		if err != nil {
			t.Fatal(err)
		}
		e := w.engine(func(config *Config) { config.Annotations = a })
		got := e.Evaluate(Call{Server: "git", Tool: c.name, Arguments: []byte(`{"path":"/workspace/repo","paths":[".envrc"]}`)})
		if got.Decision != c.want {
			t.Errorf("%s %s: %s by %s, %s; want %s", c.name, c.behavior, got.Decision, got.Rule, got.Reason, c.want)
		}
	}
}

func TestBehaviorThatCannotBeRead(t *testing.T) {
	for behavior, why := range map[string]string{
		`[]`: "expected an object", `{"pushs":true}`: "unknown field", `{"pushes":1}`: "expected an array", `{"pushes":[1]}`: "expected an object",
		`{"shows":[{}]}`: "names no argument", `{"shows":[{"all":"often"}]}`: "unknown state", `{"shows":[{"all":[]}]}`: "the list is empty",
		`{"command":true}`: "expected a string", `{"flags":"remote"}`: "expected an array",
	} {
		if _, err := behaviorOf(t, "t", behavior); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", behavior, err, why)
		}
	}
}

// A draft contains the usual behavior of a tool, so that a person sees it.
func TestDraftsStateBehavior(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	document, _, err := Draft("mine", []Definition{{Name: "git_push", InputSchema: schema}, {Name: "push", InputSchema: schema}}, nil, time.Time{})
	if err != nil || strings.Count(string(document), `"behavior"`) != 1 || !strings.Contains(string(document), `"pushes": true`) {
		t.Errorf("%s, %v", document, err)
	}
}
