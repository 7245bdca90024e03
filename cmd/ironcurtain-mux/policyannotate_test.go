package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// TestPolicyAnnotate drafts annotations of a real server in its sandbox.
func TestPolicyAnnotate(t *testing.T) {
	cache := cacheDirectory(t)
	t.Setenv("IRONCURTAIN_CACHE", cache)
	installed, err := servers.Install(t.Context(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	argv, err := installed.Argv("everything")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "servers.json")
	file, err := json.Marshal(map[string]any{"everything": map[string]any{"command": argv[0], "args": argv[1:]}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, file, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"policy", "annotate", "--servers", list, "--sandbox", dir, "--server"}
	code, stdout, stderr := invoke(t, append(args, "everything")...)
	if code != exitOK || !strings.Contains(stdout, `"toolName": "get-sum"`) || !strings.Contains(stderr, "decide what it means: echo message") {
		t.Fatalf("exit %d: %s\n%.2000s", code, stderr, stdout)
	}
	if _, err := policy.ParseAnnotations("draft", []byte(stdout)); err != nil {
		t.Error(err)
	}
	if code, stdout, stderr := invoke(t, append(args, "other")...); code != exitFailure || stdout != "" || !strings.Contains(stderr, "--server") {
		t.Errorf("an unknown server: exit %d, %q, %q", code, stdout, stderr)
	}
}
