package proxies

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/policies"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// TestProxyMCPProtectsItself has everything that the proxy judges by where the
// agent works.
func TestProxyMCPProtectsItself(t *testing.T) {
	dir := t.TempDir()
	compiled, err := os.ReadFile("../../../policy/default/compiled-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	annotations, err := os.ReadFile("../../../policy/default/tool-annotations.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"rules/compiled-policy.json": compiled, "tools.json": annotations} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	f := mcpFlags{
		Flags:   policies.Flags{Sandbox: dir, Mount: "/workspace", Policy: at("rules"), Annotations: at("tools.json"), MaxCall: 1 << 20},
		servers: at("servers.json"), audit: at("audit.jsonl"), escalations: at("asked"), tokenFile: at("token"),
	}
	e, err := f.judge(wiring.Paths{Home: at("home")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.Decision{
		"rules/compiled-policy.json": policy.Deny, "rules/dynamic-lists.json": policy.Deny, "tools.json": policy.Deny, "servers.json": policy.Deny,
		"audit.jsonl": policy.Deny, "asked/response-1.json": policy.Deny, "token": policy.Deny, "home/config.json": policy.Deny, "rules/notes.txt": policy.Allow,
	} {
		arguments, err := json.Marshal(map[string]string{"path": "/workspace/" + name, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if v := e.Evaluate(policy.Call{Server: "filesystem", Tool: "write_file", Arguments: arguments}); v.Decision != want {
			t.Errorf("%s: %s by %s (%s)", name, v.Decision, v.Rule, v.Reason)
		}
	}
}
