package policy

import (
	"strings"
	"testing"
)

// A person decides every call of a tool that nobody has annotated, and nothing lets it
// through that is certainly forbidden.
func TestUnannotatedToolsAsk(t *testing.T) {
	w := newWorld(t)
	e := w.engine(func(c *Config) { c.Asking = []string{"memory"} })
	for _, c := range []struct {
		server, tool, args string
		want               Decision
		rule               string
	}{
		{"memory", "create_entities", `{"b":[{"name":"x"}],"a":1}`, Escalate, RuleUnannotated},
		{"memory", "create_entities", ``, Escalate, RuleUnannotated},
		{"memory", "write_file", `{"path":"/workspace/a","content":"x"}`, Escalate, RuleUnannotated},
		{"memory", "create_entities", `{"a":{"b":["` + w.expand("{HOME}/.ssh/id") + `"]}}`, Deny, RuleProtectedPath},
		{"memory", "create_entities", `{"a":"~/.ssh/id"}`, Deny, RuleProtectedPath},
		{"memory", "create_entities", `{"a":"/` + strings.Repeat("x", 10000) + `"}`, Escalate, RuleUnannotated},
		{"memory", "create_entities", `{"a":[` + strings.Repeat(`"/",`, maxElements) + `"/"]}`, Deny, RuleInvalidArguments},
		{"memory", "create_entities", `{"a":1,"a":2}`, Deny, RuleInvalidArguments},
		{"memory", "create_entities", `[]`, Deny, RuleInvalidArguments},
		{"memory", "", `{}`, Deny, RuleUnknownTool},
		{"other", "create_entities", `{}`, Deny, RuleUnknownTool},
		{"filesystem", "no_such_tool", `{}`, Deny, RuleUnknownTool},
	} {
		v := e.Evaluate(Call{Server: c.server, Tool: c.tool, Arguments: []byte(c.args)})
		if v.Decision != c.want || v.Rule != c.rule {
			t.Errorf("%s/%s %.80s: %s by %s (%s), want %s by %s", c.server, c.tool, c.args, v.Decision, v.Rule, v.Reason, c.want, c.rule)
		}
		if again := e.Evaluate(Call{Server: c.server, Tool: c.tool, Arguments: v.Arguments}); v.Decision == Escalate && again.Digest != v.Digest {
			t.Errorf("%.80s: its canonical form has another digest", c.args)
		}
	}
	if v := e.Evaluate(Call{Server: "memory", Tool: "a", Arguments: []byte(`{"b":1, "a":2}`)}); string(v.Arguments) != `{"b":1,"a":2}` {
		t.Errorf("it forwards %s", v.Arguments)
	}
	if !e.Visible("memory", "create_entities") || e.Visible("other", "create_entities") {
		t.Error("not the tools that ask are offered")
	}
	if b := e.Behavior("memory", "git_push"); b.Command != "" {
		t.Errorf("a tool behaves like %q because of its name", b.Command)
	}
}
