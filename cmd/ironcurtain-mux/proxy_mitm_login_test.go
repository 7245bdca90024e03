package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// loginProvider is a provider that takes access tokens only, with the token
// service that issues them. Each refresh token works once.
type loginProvider struct {
	*httptest.Server
	mu      sync.Mutex
	access  string // that is good now
	refresh string // that is good now
	renewed int
	broken  bool // the token service refuses everything
}

func newLoginProvider(t *testing.T) *loginProvider {
	t.Helper()
	p := &loginProvider{access: "sk-ant-oat01-the-real-token-0", refresh: "sk-ant-ort01-the-refresh-token-0"}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *loginProvider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/oauth/token") {
		_ = r.ParseForm()
		if p.broken || r.Form.Get("refresh_token") != p.refresh {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		p.renewed++
		p.access = fmt.Sprintf("sk-ant-oat01-the-real-token-%d", p.renewed)
		p.refresh = fmt.Sprintf("sk-ant-ort01-the-refresh-token-%d", p.renewed)
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"expires_in":28800}`, p.access, p.refresh)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+p.access || r.Header.Get("X-Api-Key") != "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintf(w, "you sent %s with %s", r.Header.Get("Authorization"), r.Header.Get("Anthropic-Beta"))
}

// revoke makes the access token worthless before its end.
func (p *loginProvider) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.access = "sk-ant-oat01-not-issued-yet"
}

// writeClaudeLogin makes the login that Claude Code would have.
func writeClaudeLogin(t *testing.T, home string, p *loginProvider, expires time.Time) string {
	t.Helper()
	path := filepath.Join(home, ".claude", ".credentials.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"},"mcpOAuth":{"kept":1}}`,
		p.access, p.refresh, expires.UnixMilli())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func bearerMessage(token string) string {
	return strings.Replace(message("KEY"), "X-Api-Key: KEY", "Authorization: Bearer "+token, 1)
}

// A login of the host is used, renewed when it is about to end and when the
// provider refuses it, and stored where its own program finds it.
func TestProxyMITMWithALogin(t *testing.T) {
	p := newLoginProvider(t)
	home := t.TempDir()
	path := writeClaudeLogin(t, home, p, time.Now().Add(time.Minute)) // as good as ended
	r := startMITMIn(t, home, p.Server, map[string]string{"ANTHROPIC_API_KEY": "sk-ant-api03-never-used"},
		"api.anthropic.com="+p.URL, "platform.claude.com="+p.URL)
	sentinel := r.ready.Sentinels["api.anthropic.com"]
	if !strings.HasPrefix(sentinel, "sk-ant-oat01-ironcurtain-") {
		t.Fatalf("sentinel %q", sentinel)
	}
	want := "you sent Bearer " + sentinel + " with oauth-2025-04-20"
	if status, body := r.send(bearerMessage(sentinel)); status != 200 || body != want {
		t.Errorf("with a login about to end: %d %s", status, body)
	}
	p.revoke()
	if status, body := r.send(bearerMessage(sentinel)); status != 200 || body != want {
		t.Errorf("with a refused login: %d %s", status, body)
	}
	if p.renewed != 2 {
		t.Errorf("renewed %d times", p.renewed)
	}
	var file struct {
		Login map[string]any `json:"claudeAiOauth"`
		Other map[string]any `json:"mcpOAuth"`
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &file) != nil {
		t.Fatalf("%s, %v", data, err)
	}
	if file.Login["accessToken"] != p.access || file.Login["refreshToken"] != p.refresh || file.Login["subscriptionType"] != "max" || file.Other["kept"] != 1.0 {
		t.Errorf("stored %s", data)
	}
	// Now nothing can renew it: the API key is taken, which this provider refuses.
	p.broken = true
	p.revoke()
	if status, body := r.send(bearerMessage(sentinel)); status != 401 || strings.Contains(body, "real-token") {
		t.Errorf("with a login that cannot be renewed: %d %s", status, body)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(r.audit)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"the-real-token", "the-refresh-token", "never-used"} {
		if bytes.Contains(log, []byte(secret)) {
			t.Errorf("the audit shows %s", secret)
		}
	}
}

func TestProxyMITMSaysWhoMustLogIn(t *testing.T) {
	p := newLoginProvider(t)
	p.broken = true
	home := t.TempDir()
	writeClaudeLogin(t, home, p, time.Now().Add(-time.Hour))
	r := startMITMIn(t, home, p.Server, nil, "api.anthropic.com="+p.URL, "platform.claude.com="+p.URL)
	status, body := r.send(bearerMessage(r.ready.Sentinels["api.anthropic.com"]))
	if status != 401 || !strings.Contains(body, "claude /login") || !strings.Contains(body, "authentication_error") {
		t.Errorf("%d %s", status, body)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// startMITMIn starts a proxy for Anthropic in a home directory.
func startMITMIn(t *testing.T, home string, upstream *httptest.Server, env map[string]string, moved ...string) *mitmRun {
	t.Helper()
	return launchMITM(t, home, upstream, []string{"anthropic"}, env, moved...)
}
