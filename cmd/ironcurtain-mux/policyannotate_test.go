package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
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
	if code != cli.ExitOK || !strings.Contains(stdout, `"toolName": "get-sum"`) || !strings.Contains(stderr, "the role cannot be guessed, decide it yourself: echo message") {
		t.Fatalf("exit %d: %s\n%.2000s", code, stderr, stdout)
	}
	if _, err := policy.ParseAnnotations("draft", []byte(stdout)); err != nil {
		t.Error(err)
	}
	// A server of config.json: shown first, and kept when it is accepted.
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"mcpServers":`+string(file)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(home, "annotations", "everything.json")
	code, stdout, stderr = invokeIn(t, home, "policy", "annotate", "everything")
	if _, err := os.Stat(kept); code != cli.ExitOK || !strings.Contains(stdout, `"toolName": "get-sum"`) || err == nil {
		t.Errorf("exit %d: %s, kept: %v", code, stderr, err)
	}
	if code, stdout, stderr = invokeIn(t, home, "policy", "annotate", "everything", "--accept"); code != cli.ExitOK || !strings.Contains(stdout, kept) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	w := wiring.Parts{Paths: wiring.Paths{Home: home}, Servers: map[string]servers.Config{"everything": {}, "other": {}}}
	if l, err := w.LoadOwn(); err != nil || !slices.Contains(l.Annotations.Servers(), "everything") {
		t.Errorf("the accepted annotations: %v", err)
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	corrected := strings.Replace(string(text), string(policy.FreeText), string(policy.SearchQuery), 1)
	if err := os.WriteFile(kept, []byte(corrected), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr = invokeIn(t, home, "policy", "annotate", "everything"); code != cli.ExitOK || !strings.Contains(stdout, `"`+string(policy.SearchQuery)+`"`) {
		t.Errorf("after a correction: exit %d: %s", code, stderr)
	}
	if err := os.WriteFile(kept, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.LoadOwn(); err == nil || !strings.Contains(err.Error(), kept) {
		t.Errorf("broken annotations: %v", err)
	}
	if code, _, _ := invokeIn(t, home, "policy", "annotate", "everything", "--server", "x"); code != cli.ExitUsage {
		t.Errorf("both forms at once: exit %d", code)
	}
	if code, stdout, stderr := invoke(t, append(args, "other")...); code != cli.ExitFailure || stdout != "" || !strings.Contains(stderr, "--server") {
		t.Errorf("an unknown server: exit %d, %q, %q", code, stdout, stderr)
	}
}
