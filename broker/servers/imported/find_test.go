package imported

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// configure writes configurations, by their paths below a new home.
func configure(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// The servers of each agent are found, and no secret in its configuration is taken along.
func TestFind(t *testing.T) {
	home := configure(t, map[string]string{
		".claude.json": `{"numStartups": 3, "mcpServers": {
			"memory": {"type": "stdio", "command": "npx", "args": ["-y", "server-memory"], "env": {"LEVEL": "debug", "API_TOKEN": "hunter2-secret"}},
			"issues": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer hunter2-secret", "X-Team": "${TEAM}"}},
			"old": {"type": "sse", "url": "https://example.com/sse"}},
			"projects": {"/p": {"mcpServers": {"of project": {"command": "tool"}}}}}`,
		".codex/config.toml": "model = \"x\"\n[mcp_servers.docs]\ncommand = \"docs-server\"\nargs = [\"--port\", \"1\"]\nenv = { DSN = \"postgres://u:hunter2-secret@h/d\" }\n" +
			"[mcp_servers.figma]\nurl = \"https://example.com/figma\"\nbearer_token_env_var = \"FIGMA\"\n",
		".gemini/settings.json":          `{/* mine */ "mcpServers": {"g": {"httpUrl": "https://example.com/g"}, "moved": {"command": "x", "cwd": "/elsewhere"}, "flag": {"command": "x", "args": ["--api-key", "hunter2-secret"]}}}`,
		".config/opencode/opencode.json": `{"mcp": {"o": {"type": "local", "command": ["bun", "x", "o"], "environment": {"KEY": "{env:MY_KEY}"}, "enabled": false}}}`,
	})
	all, err := Find(home)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"memory":     `Claude Code {"args":["-y","server-memory"],"command":"npx","credentials":{"API_TOKEN":{"env":"API_TOKEN"}},"env":{"LEVEL":"debug"}} [API_TOKEN]`,
		"issues":     `Claude Code {"credentials":{"AUTHORIZATION":{"env":"AUTHORIZATION"},"X_TEAM":{"env":"TEAM"}},"headers":{"Authorization":"Bearer ${AUTHORIZATION}","X-Team":"${X_TEAM}"},"type":"http","url":"https://example.com/mcp"} [AUTHORIZATION TEAM]`,
		"old":        `Claude Code {"type":"http","url":"https://example.com/sse"} [] the server uses the former HTTP transport of MCP (SSE)`,
		"of-project": `Claude Code {"command":"tool"} []`,
		"docs":       `Codex {"args":["--port","1"],"command":"docs-server","credentials":{"DSN":{"env":"DSN"}}} [DSN]`,
		"figma":      `Codex {"credentials":{"FIGMA":{"env":"FIGMA"}},"headers":{"Authorization":"Bearer ${FIGMA}"},"type":"http","url":"https://example.com/figma"} [FIGMA]`,
		"g":          `Gemini CLI {"type":"http","url":"https://example.com/g"} []`,
		"moved":      `Gemini CLI {"command":"x"} [] the server must be started in a certain directory, which is not supported`,
		"flag":       `Gemini CLI {"command":"x"} [] the arguments or the address may contain a secret; write the server into config.json yourself`,
		"o":          `OpenCode {"args":["x","o"],"command":"bun","credentials":{"KEY":{"env":"MY_KEY"}},"enabled":false} [MY_KEY]`,
	}
	for _, s := range all {
		entry, err := json.Marshal(s.Entry)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(s.From + " " + string(entry) + " [" + strings.Join(s.Variables, " ") + "] " + s.Unusable)
		if got != want[s.Name] {
			t.Errorf("%s:\n%s, want\n%s", s.Name, got, want[s.Name])
		}
		if strings.Contains(got+s.What(), "hunter2") {
			t.Errorf("%s has the secret", s.Name)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// A configuration that cannot be read is an error that quotes nothing of it, and the others
// are read.
func TestFindInBrokenConfigurations(t *testing.T) {
	home := configure(t, map[string]string{
		".claude.json":          `{"mcpServers": {"x": {"command": hunter2}}}`,
		".codex/config.toml":    "[mcp_servers.x]\ncommand = hunter2\n",
		".gemini/settings.json": `{"mcpServers": {"g": {"command": "x"}}}`,
	})
	if err := os.MkdirAll(filepath.Join(home, ".config/opencode/opencode.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := Find(home)
	if len(all) != 1 || err == nil || strings.Contains(err.Error(), "hunter2") || strings.Count(err.Error(), "read ") != 3 || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %+v, %v", all, err)
	}
	if all, err := Find(t.TempDir()); len(all) != 0 || err != nil {
		t.Errorf("without any: %+v, %v", all, err)
	}
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["-k"], "env": {"K": "${V}"}}}, "mcp": {"b": {"command": ["x"]}}}`))
	f.Add([]byte("[mcp_servers.a]\ncommand = \"x\"\nurl = \"https://u:p@h/?token=1\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range sources {
			entries, err := s.read(data)
			if err != nil {
				continue
			}
			for name, e := range entries {
				if got := e.server(name, s.agent); got.Unusable == "" && (got.Name == "" || len(got.Name) > 32) {
					t.Errorf("the name %q", got.Name)
				}
			}
		}
	})
}
