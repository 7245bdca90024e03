package mcpproxy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// everythingPolicy allows what the reference server offers that touches nothing,
// and asks before it fetches something.
const everythingPolicy = `{"generatedAt":"2026-01-01T00:00:00Z","constitutionHash":"","inputHash":"","rules":[
 {"name":"allow-harmless","description":"d","principle":"p","then":"allow","reason":"r","if":{"server":["everything"],
  "tool":["echo","get-sum","get-structured-content","get-tiny-image","get-annotated-message","trigger-long-running-operation"]}},
 {"name":"ask-download","description":"d","principle":"p","then":"escalate","reason":"r","if":{"server":["everything"],"tool":["gzip-file-as-resource"],
  "domains":{"roles":["fetch-url"],"allowed":["*"]}}}]}`

// withEverything puts the reference server, in the real sandbox, behind the proxy.
func withEverything(t *testing.T) func(*Config) {
	t.Helper()
	withServers := realServers(t)
	return func(c *Config) {
		base := filepath.Dir(c.Servers[0].Env[stubVar])
		withServers(c)
		c.Servers = c.Servers[len(c.Servers)-1:]
		compiled, err := policy.ParseCompiled("policy", []byte(everythingPolicy))
		if err != nil {
			t.Fatal(err)
		}
		annotations, err := policy.LoadAnnotations(filepath.Join("testdata", "everything-annotations.json"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Engine, err = policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: filepath.Join(base, "work"), Mount: "/workspace", Home: base}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheReferenceServer(t *testing.T) {
	r := newHarness(t, withEverything(t))
	a := r.agent()
	for i, c := range []struct {
		tool, arguments, want string
		failed                bool
	}{
		{"echo", `{"message":"grüße <b>&"}`, `grüße <b>&`, false},
		{"get-sum", `{"a":2,"b":40}`, `42`, false},
		{"get-structured-content", `{"location":"Chicago"}`, `"structuredContent":{`, false},
		{"get-tiny-image", `{}`, `"type":"image"`, false},
		{"get-annotated-message", `{"messageType":"error","includeImage":true}`, `"priority"`, false},
		{"echo", `{"message":"a","Message":"b"}`, "DENIED", true},
		{"echo", `{"message":7}`, "invalid-arguments", true},
		{"echo", `{}`, "invalid-arguments", true},
		{"get-sum", `{"a":1e400,"b":1}`, "DENIED", true},
		{"get-structured-content", `{"location":"Paris"}`, "invalid-arguments", true},
		{"get-env", `{}`, "not annotated", true},
		{"gzip-file-as-resource", `{"data":"http://127.0.0.1/x"}`, "default-deny", true},
		{"gzip-file-as-resource", `{"data":"file:///etc/passwd"}`, "DENIED", true},
	} {
		t.Run(c.tool, func(t *testing.T) {
			m := a.call(string(rune('1'+i%9)), "everything__"+c.tool, c.arguments)
			if m.isError() != c.failed || !strings.Contains(string(m.Result), c.want) {
				t.Errorf("%s %s: %.400s", c.tool, c.arguments, m.Result)
			}
		})
	}
	// A long operation tells of itself, in the agent's own words.
	a.send(`{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"everything__trigger-long-running-operation","arguments":{"duration":0.2,"steps":4},"_meta":{"progressToken":"mine"}}}`)
	told := 0
	for {
		m := a.receive()
		if m.Method == "notifications/progress" && strings.Contains(string(m.Params), `"progressToken":"mine"`) {
			told++
		}
		if string(m.ID) == "20" {
			if m.isError() || told != 4 {
				t.Errorf("%d signs of life, then %s", told, m.Result)
			}
			break
		}
	}
	for _, d := range r.decisions() {
		if d.Decision == audit.Allow && !d.Sandboxed {
			t.Errorf("not sandboxed: %s", d.Raw)
		}
	}
	for _, s := range r.proxy.catalog.Load().offered {
		if strings.Contains(s.Name, "get-env") {
			t.Error("a tool that nobody annotated is offered")
		}
	}
}
