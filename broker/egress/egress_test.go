package egress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/oauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

func TestRecordInTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write := Append(log)
	for i, decision := range []mitm.Decision{mitm.Allow, mitm.Deny} {
		err := write(mitm.Record{
			Time: time.Now(), Session: "s", Seq: uint64(i), Phase: mitm.PhaseRequest, Decision: decision, Reason: mitm.ReasonKey,
			Host: "api.x.com", Method: "POST", Path: "/v1/x", Status: 403, Key: mitm.KeyMismatch, Usage: &usage.Count{In: 5},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var lines []audit.Line
	if err := audit.Read(path, func(l audit.Line) error {
		if l.Plane == audit.PlaneHTTP {
			lines = append(lines, l)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	got := lines[1]
	if got.Decision != audit.Deny || got.Reason != "credential" || got.Server != "api.x.com" || got.Tool != "POST" || got.Call != "http-1" {
		t.Errorf("line %+v", got.Record)
	}
	if got.Detail["keyState"] != "mismatch" || got.Detail["path"] != "/v1/x" || got.Detail["status"] != 403.0 {
		t.Errorf("detail %v", got.Detail)
	}
}

func environment(home string, variables map[string]string) oauth.Environment {
	return oauth.Environment{Home: home, Getenv: func(name string) string { return variables[name] }}
}

func TestKeysBeforeLogins(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude", ".credentials.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	login := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"the-token","refreshToken":"r","expiresAt":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	if err := os.WriteFile(path, []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	providers := []string{"anthropic", "google"}
	c := NewCredentials(providers, environment(home, map[string]string{"GEMINI_API_KEY": " the-key "}))
	if diff := cmp.Diff(map[string]string{"anthropic": mitm.KindBearer, "google": mitm.KindAPIKey}, c.Modes()); diff != "" {
		t.Error(diff)
	}
	if got, err := c.Credential(t.Context(), "anthropic"); err != nil || got.Value != "the-token" || got.Kind != mitm.KindBearer {
		t.Errorf("anthropic: %v, %v", got, err)
	}
	if got, err := c.Credential(t.Context(), "google"); err != nil || got.Value != "the-key" {
		t.Errorf("google: %v, %v", got, err)
	}
	if c.Refused(t.Context(), "google", mitm.Credential{Kind: mitm.KindAPIKey, Value: "the-key"}) {
		t.Error("a key is said to be renewed")
	}
	c = NewCredentials(providers, environment(home, map[string]string{"ANTHROPIC_API_KEY": "the-other-key"}))
	if got, err := c.Credential(t.Context(), "anthropic"); err != nil || got.Value != "the-other-key" || got.Kind != mitm.KindAPIKey {
		t.Errorf("with a key: %v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"the-other-key"}, c.Secrets()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingFound(t *testing.T) {
	c := NewCredentials([]string{"anthropic", "openai", "chatgpt"}, environment(t.TempDir(), nil))
	for provider, want := range map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "chatgpt": "codex login"} {
		_, err := c.Credential(context.Background(), provider)
		var h interface{ Hint() string }
		if err == nil || !errors.As(err, &h) || !strings.Contains(h.Hint(), want) {
			t.Errorf("%s: %v", provider, err)
		}
	}
}
