package egress

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
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

func options(home string, variables map[string]string) Options {
	return Options{Environment: oauth.Environment{Home: home, Getenv: func(name string) string { return variables[name] }}}
}

// writeLogin makes a login of Claude Code that ends at the given time.
func writeLogin(t *testing.T, home, access string, expires time.Time) {
	t.Helper()
	path := filepath.Join(home, ".claude", ".credentials.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	login := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"r","expiresAt":%d}}`, access, expires.UnixMilli())
	if err := os.WriteFile(path, []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantCredential(t *testing.T, c *Credentials, provider, kind, value string) {
	t.Helper()
	got, err := c.Credential(t.Context(), provider)
	if err != nil || got.Kind != kind || got.Value != value {
		t.Errorf("%s: %s %q, %v; want %s %q", provider, got.Kind, got.Value, err, kind, value)
	}
}

func TestLoginsBeforeKeys(t *testing.T) {
	home := t.TempDir()
	writeLogin(t, home, "the-token", time.Now().Add(time.Hour))
	providers := []string{"anthropic", "google"}
	variables := map[string]string{"GEMINI_API_KEY": " the-key ", "ANTHROPIC_API_KEY": "the-other-key"}
	c := NewCredentials(providers, options(home, variables))
	if diff := cmp.Diff(map[string]string{"anthropic": mitm.KindBearer, "google": mitm.KindAPIKey}, c.Modes()); diff != "" {
		t.Error(diff)
	}
	wantCredential(t, c, "anthropic", mitm.KindBearer, "the-token")
	wantCredential(t, c, "google", mitm.KindAPIKey, "the-key")
	if c.Refused(t.Context(), "google", mitm.Credential{Kind: mitm.KindAPIKey, Value: "the-key"}) {
		t.Error("a key is said to be renewed")
	}
	variables["IRONCURTAIN_DOCKER_AUTH"] = "apikey"
	c = NewCredentials(providers, options(home, variables))
	if diff := cmp.Diff(map[string]string{"anthropic": mitm.KindAPIKey, "google": mitm.KindAPIKey}, c.Modes()); diff != "" {
		t.Error(diff)
	}
	wantCredential(t, c, "anthropic", mitm.KindAPIKey, "the-other-key")
	secrets := c.Secrets()
	slices.Sort(secrets)
	if diff := cmp.Diff([]string{"the-key", "the-other-key"}, secrets); diff != "" {
		t.Error(diff)
	}
}

// Keys of a terminal replace those of the environment for its sessions alone. None of them is
// let out by any.
func TestKeysOfATerminal(t *testing.T) {
	home := t.TempDir()
	c := NewCredentials([]string{"anthropic", "google"}, options(home, map[string]string{"GEMINI_API_KEY": "the-key"}))
	d := c.With(Keys{"google": "the-new-key", "anthropic": "one-more"})
	wantCredential(t, c, "google", mitm.KindAPIKey, "the-key")
	wantCredential(t, d, "google", mitm.KindAPIKey, "the-new-key")
	wantCredential(t, d, "anthropic", mitm.KindAPIKey, "one-more")
	if _, err := c.Credential(t.Context(), "anthropic"); err == nil {
		t.Error("others have the terminal's key")
	}
	var held []string
	for _, one := range d.Held() {
		held = append(held, one.Value)
	}
	slices.Sort(held)
	if diff := cmp.Diff([]string{"one-more", "the-key", "the-new-key"}, held); diff != "" {
		t.Error(diff)
	}
	writeLogin(t, home, "the-token", time.Now().Add(time.Hour))
	if err := d.Check("anthropic"); err != nil {
		t.Error(err)
	}
	wantCredential(t, NewCredentials([]string{"anthropic"}, options(home, nil)).With(Keys{"anthropic": "one-more"}), "anthropic", mitm.KindBearer, "the-token")
}

// Whoever logs in, or out, while sessions run need not start anything anew.
func TestLoginsComeAndGo(t *testing.T) {
	home := t.TempDir()
	c := NewCredentials([]string{"anthropic"}, options(home, nil))
	if _, err := c.Credential(t.Context(), "anthropic"); err == nil {
		t.Fatal("there is a credential")
	}
	writeLogin(t, home, "the-token", time.Now().Add(time.Hour))
	wantCredential(t, c, "anthropic", mitm.KindBearer, "the-token")
	if diff := cmp.Diff(map[string]string{"anthropic": mitm.KindBearer}, c.Modes()); diff != "" {
		t.Error(diff)
	}
	// The provider refuses it, nothing renews it, and a key is there.
	c = NewCredentials([]string{"anthropic"}, options(home, map[string]string{"ANTHROPIC_API_KEY": "the-key"}))
	wantCredential(t, c, "anthropic", mitm.KindBearer, "the-token")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer service.Close()
	o := options(home, map[string]string{"ANTHROPIC_API_KEY": "the-key"})
	base, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.Upstreams = map[string]*url.URL{"platform.claude.com": base}
	c = NewCredentials([]string{"anthropic"}, o)
	if c.Refused(t.Context(), "anthropic", mitm.Credential{Kind: mitm.KindBearer, Value: "the-token"}) {
		t.Error("a login that nobody renewed is said to be")
	}
	wantCredential(t, c, "anthropic", mitm.KindAPIKey, "the-key")
	writeLogin(t, home, "a-new-token", time.Now().Add(time.Hour))
	wantCredential(t, c, "anthropic", mitm.KindBearer, "a-new-token")
}

// All sessions of a process share one renewal.
func TestOneRenewalForAllSessions(t *testing.T) {
	home := t.TempDir()
	writeLogin(t, home, "old", time.Now().Add(-time.Hour))
	var calls atomic.Int64
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/gate/v1/oauth/token" || r.FormValue("refresh_token") != "r" || r.Header.Get("User-Agent") == "" {
			t.Errorf("%s asks with %v", r.URL.Path, r.Form)
		}
		calls.Add(1)
		_, _ = fmt.Fprint(w, `{"access_token":"new","refresh_token":"r2","expires_in":3600}`)
	}))
	defer service.Close()
	o := options(home, nil)
	base, err := url.Parse(service.URL + "/gate")
	if err != nil {
		t.Fatal(err)
	}
	o.Upstreams = map[string]*url.URL{"platform.claude.com": base}
	o.UpstreamCAs = x509.NewCertPool()
	o.UpstreamCAs.AddCert(service.Certificate())
	c := NewCredentials([]string{"anthropic"}, o)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { wantCredential(t, c, "anthropic", mitm.KindBearer, "new") })
	}
	wg.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("the login was renewed %d times", n)
	}
}

func TestNothingFound(t *testing.T) {
	c := NewCredentials([]string{"anthropic", "openai", "chatgpt"}, options(t.TempDir(), nil))
	for provider, want := range map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "chatgpt": "codex login"} {
		t.Run(provider, func(t *testing.T) {
			_, err := c.Credential(context.Background(), provider)
			if err == nil || !strings.Contains(fault.Hint(err), want) {
				t.Errorf("%s: %v", provider, err)
			}
		})
	}
	if len(c.Modes()) != 0 {
		t.Errorf("modes %v", c.Modes())
	}
}

// The detail of a record holds all that the record's own JSON form holds, but for
// what the log has members for.
func TestDetailHoldsTheRecord(t *testing.T) {
	for name, r := range map[string]mitm.Record{
		"empty": {},
		"full": {
			Time: time.Now(), Session: "s", Seq: 7, Conn: 3, Phase: mitm.PhaseResponse, Decision: mitm.Failed, Reason: mitm.ReasonBroken,
			Detail: "a \"quoted\" <line>\u2028\x01", Provider: "p", Host: "h.example", Port: "443", SNI: `s\x00`, Method: "POST", Path: "/v1/x",
			Status: 200, Key: mitm.KeySentinel, Stripped: []string{"a", "b\n"}, Model: "m", Digest: "d", ReqBytes: 1 << 40, ResBytes: 5,
			TTFB: 0.001, Duration: 1234567.891, Usage: &usage.Count{In: 1, Out: 2, CacheRead: 3}, Guessed: true, Upstream: 529, Retry: 1, Leaks: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for f, v := range reflect.ValueOf(r).Fields() {
				if name == "full" && v.IsZero() && f.Name != "Ruling" {
					t.Errorf("the test does not fill %s", f.Name)
				}
			}
			text, err := detailOf(nil, &r)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if err := json.Unmarshal(whole, &want); err != nil {
				t.Fatal(err)
			}
			for _, member := range []string{"ts", "session", "decision", "reason", "digest"} {
				delete(want, member)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the detail differs:\n%s", diff)
			}
		})
	}
}

// On macOS the login is in the keychain. A file comes before it, and a key after.
func TestLoginInTheKeychain(t *testing.T) {
	program := filepath.Join(t.TempDir(), "security")
	script := `#!/bin/sh
[ "$*" = "find-generic-password -s Claude Code-credentials -a somebody -w" ] || exit 44
printf '{"claudeAiOauth":{"accessToken":"of-the-keychain","refreshToken":"r","expiresAt":4102444800000}}\n'
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	o := options(home, map[string]string{"ANTHROPIC_API_KEY": "the-key"})
	o.Environment.Keychain = oauth.NewKeychain(program, "somebody")
	wantCredential(t, NewCredentials([]string{"anthropic"}, o), "anthropic", mitm.KindBearer, "of-the-keychain")
	writeLogin(t, home, "of-the-file", time.Now().Add(time.Hour))
	wantCredential(t, NewCredentials([]string{"anthropic"}, o), "anthropic", mitm.KindBearer, "of-the-file")
	o.Environment.Home, o.Environment.Keychain = t.TempDir(), oauth.NewKeychain(program, "somebody-else")
	wantCredential(t, NewCredentials([]string{"anthropic"}, o), "anthropic", mitm.KindAPIKey, "the-key")
}
