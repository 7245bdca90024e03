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

// A server over HTTP is written as other programs write it, and no secret stands there.
func TestParseRemote(t *testing.T) {
	got, err := Parse("f", []byte(`{"a":{"type":"http","url":"https://example.com/mcp","credentials":{"K":{"env":"X"}},
		"headers":{"authorization":"Bearer ${K}","X-Team":"blue"}},"b":{"url":"http://localhost:3000/mcp"},"c":{"type":"streamable-http","url":"https://x.example"}}`))
	if err != nil {
		t.Fatal(err)
	}
	h := got["a"].Remote().Header(map[string]string{"K": "secret"})
	if h.Get("Authorization") != "Bearer secret" || h.Get("X-Team") != "blue" || len(h) != 2 || got["b"].Remote().Address != "http://localhost:3000/mcp" {
		t.Errorf("%v", h)
	}
	const good = `"url":"https://example.com/mcp"`
	for text, want := range map[string]string{
		`"type":"sse",` + good:                      "older SSE transport",
		`"type":"ws",` + good:                       `the type must be "stdio" or "http"`,
		`"type":"http"`:                             "url is missing",
		`"type":"stdio",` + good + `,"command":"x"`: `has the type "http"`,
		good + `,"command":"x"`:                     "are for servers that are programs",
		good + `,"args":[]`:                         "are for servers that are programs",
		good + `,"env":{}`:                          "are for servers that are programs",
		good + `,"sandbox":false`:                   "are for servers that are programs",
		`"command":"x","headers":{"X-Team":"blue"}`: "are for servers with a url",
		`"command":"x","oauth":{}`:                  "are for servers with a url",
		good + `,"oauth":{"callbackPort":70000}`:    "is not a port",
		good + `,"oauth":{"clientId":"x"},"headers":{"Authorization":"Bearer ${K}"},"credentials":{"K":{"env":"X"}}`: "has the credential already",
		good + `,"oauth":{"clientSecret":"abc"}`:                                     "unknown field",
		`"url":"http://example.com/mcp"`:                                             "the address must use https",
		`"url":"https://169.254.169.254/"`:                                           "metadata",
		`"url":"https://me:secret@example.com/"`:                                     "contains a login",
		good + `,"headers":{"Authorization":"Bearer abc"}`:                           "is a secret and is never written here",
		good + `,"headers":{"x-api-key":"abc"}`:                                      "is a secret and is never written here",
		good + `,"headers":{"Authorization":"Bearer ${K}"}`:                          "not in credentials",
		good + `,"headers":{"X-A":"${K"},"credentials":{"K":{"env":"X"}}`:            "is not followed by the name",
		good + `,"credentials":{"K":{"env":"X"}}`:                                    "no header names ${K}",
		good + `,"headers":{"Host":"other.example.com"}`:                             "set by the program itself",
		good + `,"headers":{"mcp-session-id":"x"}`:                                   "set by the program itself",
		good + `,"headers":{"X-A":"a\r\nHost: b"}`:                                   "cannot be sent",
		good + `,"headers":{"X A":"a"}`:                                              "cannot be sent",
		good + `,"headers":{"X-A":"a","x-a":"b"}`:                                    "differ only in case",
		good + `,"headers":{"K":"${K}"},"credentials":{"K":{"env":"X","file":"/x"}}`: "never written here",
	} {
		if _, err := Parse("f", []byte(`{"a":{`+text+`}}`)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
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
			if (c.Command == "") == (c.URL == "") || name == reserved {
				t.Fatalf("%q: %+v", name, c)
			}
		}
	})
}
