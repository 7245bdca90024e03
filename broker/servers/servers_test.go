package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestLockNamesNoRegistry(t *testing.T) {
	if bytes.Contains(lock, []byte(`"resolved"`)) || !json.Valid(lock) || !json.Valid(manifest) {
		t.Error("the lock file says where packages come from; that is for npm's own configuration")
	}
	for script := range scripts {
		if scripts[script] == "" || !bytes.Contains(manifest, []byte(strings.Split(scripts[script], "/dist")[0])) {
			t.Errorf("%s is not among the dependencies", script)
		}
	}
}

func TestWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Install(t.Context(), t.TempDir(), nil)
	var e *fault.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint(), "nodejs") {
		t.Fatalf("%v", err)
	}
	old := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho v12.22.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(old))
	if _, err := Install(t.Context(), t.TempDir(), nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "12.22.0") {
		t.Fatalf("%v", err)
	}
	now := filepath.Join(filepath.Dir(old), "node")
	if err := os.WriteFile(now, []byte("#!/bin/sh\necho v22.1.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(t.Context(), t.TempDir(), nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "npm was not found") {
		t.Fatalf("%v", err)
	}
}

func TestAFailedInstallLeavesNothing(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{"node": "echo v22.1.0", "npm": "echo no network >&2; exit 1"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	cache := t.TempDir()
	if _, err := Install(context.Background(), cache, nil); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Fatalf("%v", err)
	}
	left, err := os.ReadDir(filepath.Join(cache, "servers"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.IsDir() {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("f", []byte(`{
		"plain": {"command": "node", "args": ["a b"], "env": {"X": "1"}},
		"open": {"command": "x", "sandbox": false},
		"some": {"command": "x", "sandbox": {"filesystem": {"allowWrite": [".git"]}, "network": {"allowedDomains": ["*.example.com"]}}},
		"none": {"command": "x", "sandbox": {"network": false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Config{
		"plain": {Command: "node", Args: []string{"a b"}, Env: map[string]string{"X": "1"}},
		"open":  {Command: "x", Sandbox: Sandbox{Off: true}},
		"some": {Command: "x", Sandbox: Sandbox{
			Filesystem: Filesystem{AllowWrite: []string{".git"}}, Network: Network{AllowedDomains: []string{"*.example.com"}},
		}},
		"none": {Command: "x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := Parse("f", []byte(`{"mcpServers":{"a":{"command":"x","_comment":"why"}}}`)); err != nil || got["a"].Command != "x" {
		t.Errorf("%v %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": `{`, "list": `[]`, "no command": `{"a":{}}`, "unknown member": `{"a":{"command":"x","commands":1}}`,
		"twice": `{"a":{"command":"x"},"a":{"command":"y"}}`, "member twice": `{"a":{"command":"x","command":"y"}}`,
		"reserved": `{"proxy":{"command":"x"}}`, "joined name": `{"a__b":{"command":"x"}}`, "slash": `{"a/b":{"command":"x"}}`,
		"sandbox true": `{"a":{"command":"x","sandbox":true}}`, "sandbox null": `{"a":{"command":"x","sandbox":null,"x":1}}`,
		"sandbox typo": `{"a":{"command":"x","sandbox":{"filesystems":{}}}}`, "every domain": `{"a":{"command":"x","sandbox":{"network":{"allowedDomains":["*"]}}}}`,
		"variable": `{"a":{"command":"x","env":{"A=B":"1"}}}`, "NUL": `{"a":{"command":"x\u0000"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Parse("f", []byte(text)); err == nil {
				t.Errorf("%s: accepted as %v", name, got)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":{"command":"x","sandbox":{"network":{"allowedDomains":["example.com"]}}}}`))
	f.Add([]byte(`{"mcpServers":{"mcpServers":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse("f", data)
		if err != nil {
			return
		}
		for name, c := range all {
			if c.Command == "" || name == reserved {
				t.Fatalf("%q: %+v", name, c)
			}
		}
	})
}
