package policy

import "testing"

// TestDocumentedDefaults leaves out arguments for which the server has a default.
func TestDocumentedDefaults(t *testing.T) {
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{
		"filesystem":{"tools":[
			{"toolName":"peek","args":{"path":["read-path"]},"inputSchema":{"type":"object","properties":{"path":{"type":"string","default":"/etc"}}}},
			{"toolName":"here","args":{"paths":["read-path"],"limit":["none"]},"inputSchema":{"type":"object","properties":{"paths":{"type":"array","default":["src"]},"limit":{"type":"integer","default":5}}}}]},
		"fetch":{"tools":[
			{"toolName":"get","args":{"url":["fetch-url"]},"inputSchema":{"type":"object","properties":{"url":{"type":"string","default":"https://evil.example.org/"}}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCompiled("p.json", []byte(`{"rules":[{"name":"any","if":{"server":["fetch"]},"then":"allow"},{"name":"ask","if":{"server":["filesystem"]},"then":"escalate"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	e := w.engine(func(config *Config) { config.Annotations, config.Policy = a, c })
	for _, tc := range []struct {
		server, tool, args string
		want               Decision
		forwarded          string
	}{
		{"filesystem", "peek", `{}`, Escalate, `{"path":"/etc"}`},
		{"filesystem", "peek", `{"path":"a.txt"}`, Allow, `{"path":"{BOX}/a.txt"}`},
		{"filesystem", "here", `{}`, Allow, `{"paths":["{BOX}/src"]}`},
		{"fetch", "get", `{}`, Deny, ``},
	} {
		v := e.Evaluate(Call{Server: tc.server, Tool: tc.tool, Arguments: []byte(tc.args)})
		if v.Decision != tc.want || string(v.Arguments) != w.expand(tc.forwarded) {
			t.Errorf("%s %s: %s by %s (%s), forwarded %s", tc.tool, tc.args, v.Decision, v.Rule, v.Reason, v.Arguments)
		}
		if v.Decision != Deny {
			fixedPoint(t, e, tc.server, tc.tool, v)
		}
	}
}

// TestMissingPathWithoutArguments: a schema that declares no arguments does not say which
// of them may be left out.
func TestMissingPathWithoutArguments(t *testing.T) {
	for _, schema := range []string{``, `,"inputSchema":{}`, `,"inputSchema":{"type":"object"}`} {
		a, err := ParseAnnotations("a.json", []byte(`{"servers":{"filesystem":{"tools":[{"toolName":"read_file","args":{"path":["read-path"]}`+schema+`}]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		e := newWorld(t).engine(func(c *Config) { c.Annotations = a })
		if v := e.Evaluate(Call{Server: "filesystem", Tool: "read_file", Arguments: []byte(`{}`)}); v.Decision != Deny || v.Rule != RuleInvalidArguments {
			t.Errorf("schema %q: %s by %s", schema, v.Decision, v.Rule)
		}
	}
}

// TestMailAddressesAreNotFolded: only ASCII letters are compared without case.
func TestMailAddressesAreNotFolded(t *testing.T) {
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{"mail":{"tools":[{"toolName":"send","args":{"to":["email-address"]}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCompiled("p.json", []byte(`{"rules":[{"name":"known","if":{"lists":[{"roles":["email-address"],"allowed":["sales@kit.example"],"matchType":"emails"}]},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e := newWorld(t).engine(func(config *Config) { config.Annotations, config.Policy = a, c })
	for to, want := range map[string]Decision{
		"sales@kit.example": Allow, "SALES@Kit.Example": Allow, "\u017fales@kit.example": Deny, "sales@\u212ait.example": Deny, "sales@kit.example.": Deny,
	} {
		if v := e.Evaluate(Call{Server: "mail", Tool: "send", Arguments: []byte(`{"to":"` + to + `"}`)}); v.Decision != want {
			t.Errorf("%q: %s by %s", to, v.Decision, v.Rule)
		}
	}
}
