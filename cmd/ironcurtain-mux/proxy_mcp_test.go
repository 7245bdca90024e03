package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// TestProxyMCPOnStandardInput drives the command with the real filesystem
// server in its sandbox.
func TestProxyMCPOnStandardInput(t *testing.T) {
	cache, work, list, log := filesystemServer(t)
	t.Setenv("IRONCURTAIN_CACHE", cache)
	t.Setenv("IRONCURTAIN_HOME", t.TempDir())
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":"/workspace/a.txt","content":"x"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"filesystem__read_text_file","arguments":{"path":"/etc/hostname"}}}`,
	}, "\n") + "\n"
	var out, complaints bytes.Buffer
	code := run(context.Background(), []string{"proxy", "mcp", "--servers", list, "--sandbox", work, "--stdio", "--audit", log},
		strings.NewReader(in), &out, &complaints)
	if code != cli.ExitOK || !strings.Contains(complaints.String(), `{"ready":true`) {
		t.Fatalf("exit %d: %s", code, complaints.String())
	}
	if !strings.Contains(out.String(), "Successfully wrote to /workspace/a.txt") || !strings.Contains(out.String(), "ESCALATION REQUIRED") {
		t.Errorf("answers:\n%s", out.String())
	}
	if _, err := os.Stat(filepath.Join(work, "a.txt")); err != nil {
		t.Error(err)
	}
	checkLog(t, log)
}

// filesystemServer makes what "proxy mcp" needs for the real filesystem server: the cache that has
// it, the directory of a session, the list that names it, and the path of a log.
func filesystemServer(t *testing.T) (cache, work, list, log string) {
	t.Helper()
	at, err := wiring.FindPaths()
	if err != nil {
		t.Fatal(err)
	}
	installed, err := servers.Install(t.Context(), at.Cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	argv, err := installed.Argv("filesystem")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	work, list, log = filepath.Join(dir, "work"), filepath.Join(dir, "servers.json"), filepath.Join(dir, "audit.jsonl")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]any{"filesystem": map[string]any{"command": argv[0], "args": append(argv[1:], work)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return at.Cache, work, list, log
}

// checkLog reads and verifies a log with the audit commands, whole and cut.
func checkLog(t *testing.T, log string) {
	t.Helper()
	if code, stdout, stderr := invoke(t, "audit", "show", "--decision", "allow", log); code != cli.ExitOK || !strings.Contains(stdout, "filesystem/write_file") {
		t.Errorf("show: %d %s %s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "audit", "show", "--outcome", "answered", log); code != cli.ExitOK || !strings.Contains(stdout, "filesystem/write_file answered in ") {
		t.Errorf("show of what ended: %d %s %s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "audit", "verify", log); code != cli.ExitOK || !strings.Contains(stdout, "whole") || strings.Contains(stdout, "how these ended") {
		t.Errorf("verify: %d %s %s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "audit", "tail", "-n", "1", "--jsonl", log); code != cli.ExitOK || !strings.Contains(stdout, `"closed"`) {
		t.Errorf("tail: %d %s %s", code, stdout, stderr)
	}
	if code, stdout, stderr := invoke(t, "audit", "verify", "--json", log); code != cli.ExitOK || !strings.Contains(stdout, `"whole":true`) {
		t.Errorf("verify: %d %s %s", code, stdout, stderr)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := invoke(t, "audit", "verify", log); code != cli.ExitFailure || stderr == "" {
		t.Errorf("verify of a cut log: %d %s", code, stderr)
	}
}

func TestProxyMCPRefusesWrongUse(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	if err := os.WriteFile(good, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	base := []string{"proxy", "mcp", "--servers", good, "--audit", filepath.Join(dir, "audit.jsonl"), "--stdio"}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"no sandbox":       {base, cli.ExitUsage},
		"sandbox missing":  {append(base, "--sandbox", filepath.Join(dir, "none")), cli.ExitFailure},
		"both ways":        {append(base, "--sandbox", dir, "--socket", "x"), cli.ExitUsage},
		"unknown strength": {append(base, "--sandbox", dir, "--sandbox-policy", "maybe"), cli.ExitUsage},
		"policy missing":   {append(base, "--sandbox", dir, "--policy", filepath.Join(dir, "none")), cli.ExitFailure},
		"servers missing":  {[]string{"proxy", "mcp", "--servers", "none", "--audit", "a", "--sandbox", dir, "--stdio"}, cli.ExitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := invoke(t, c.args...); code != c.code || !strings.HasPrefix(stderr, "ironcurtain-mux: ") {
				t.Errorf("exit %d, want %d: %s", code, c.code, stderr)
			}
		})
	}
}
