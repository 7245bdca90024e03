package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(keychainVariable); dir != "" {
		os.Exit(actAsSecurity(dir, os.Args[1:], os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// service is a token service whose refresh tokens work once.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	valid  string // the refresh token that works now
	issued int
	calls  int
	answer func(http.ResponseWriter) bool // instead of a token
}

func newService(t *testing.T, first string) *service {
	t.Helper()
	s := &service{valid: first}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Refresh string `json:"refresh_token"`
		}
		if json.Unmarshal(body, &asked) != nil {
			form, _ := url.ParseQuery(string(body))
			asked.Refresh = form.Get("refresh_token")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls++
		if s.answer != nil && s.answer(w) {
			return
		}
		if asked.Refresh != s.valid {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"Refresh token not found or invalid"}`)
			return
		}
		s.issued++
		s.valid = fmt.Sprintf("refresh-%d", s.issued)
		_, _ = fmt.Fprintf(w, `{"access_token":"access-%d","refresh_token":%q,"expires_in":3600}`, s.issued, s.valid)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) manager(src *Source) *Manager {
	return NewManager(src, Options{Client: s.Client(), Endpoint: s.URL})
}

// claudeLogin writes a login of Claude Code, with the tokens access-0 and
// refresh-0, and returns its source.
func claudeLogin(t *testing.T, expires time.Time) *Source {
	t.Helper()
	s := claudeCode(t.TempDir())
	text := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["a"],"subscriptionType":"max"},"other":{"kept":[1.0]}}`,
		"access-0", "refresh-0", expires.UnixMilli())
	if err := os.MkdirAll(filepath.Dir(s.Place()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Place(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValidTokenIsNotRenewed(t *testing.T) {
	svc := newService(t, "refresh-0")
	m := svc.manager(claudeLogin(t, time.Now().Add(time.Hour)))
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-0" || svc.calls != 0 {
		t.Errorf("%q, %v, %d calls", got.Access, err, svc.calls)
	}
}

func TestRenewalKeepsTheRestOfTheFile(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(time.Minute))
	got, err := svc.manager(src).Token(t.Context())
	if err != nil || got.Access != "access-1" {
		t.Fatalf("%q, %v", got.Access, err)
	}
	data, _ := os.ReadFile(src.Place())
	for _, part := range []string{`"access-1"`, `"refresh-1"`, `"subscriptionType": "max"`, `"scopes"`, `"kept"`, `1.0`} {
		t.Run(part, func(t *testing.T) {
			if !strings.Contains(string(data), part) {
				t.Errorf("the file lacks %s:\n%s", part, data)
			}
		})
	}
	info, _ := os.Stat(src.Place())
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	entries, _ := os.ReadDir(filepath.Dir(src.Place()))
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// Several programs, each with its own manager, share one file.
func TestOneRenewalForMany(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	var wg sync.WaitGroup
	for range 8 {
		m := svc.manager(src)
		for range 4 {
			wg.Go(func() {
				if got, err := m.Token(context.Background()); err != nil || got.Access != "access-1" {
					t.Errorf("%q, %v", got.Access, err)
				}
			})
		}
	}
	wg.Wait()
	if svc.calls != 1 {
		t.Errorf("%d calls to the token service", svc.calls)
	}
}

func TestRefusedToken(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(time.Hour))
	m := svc.manager(src)
	if _, err := m.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !m.Refused(t.Context(), "access-0") {
		t.Fatal("a refused token was not renewed")
	}
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" || svc.calls != 1 {
		t.Errorf("%q, %v, %d calls", got.Access, err, svc.calls)
	}
}

// The provider refuses one token to many sessions at once.
func TestOneRenewalForManyRefusals(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(time.Hour))
	var wg sync.WaitGroup
	for range 4 { // programs
		m := svc.manager(src)
		for range 4 { // sessions of each
			wg.Go(func() {
				if !m.Refused(context.Background(), "access-0") {
					t.Error("a refused token was not renewed")
				}
				if got, err := m.Token(context.Background()); err != nil || got.Access != "access-1" {
					t.Errorf("%q, %v", got.Access, err)
				}
			})
		}
	}
	wg.Wait()
	if svc.calls != 1 {
		t.Errorf("%d calls to the token service", svc.calls)
	}
}

// A token that is refused before it expires, and cannot be renewed, is not returned
// again, although by the file it is valid.
func TestRevokedLoginIsNotUsedAgain(t *testing.T) {
	svc := newService(t, "another")
	src := claudeLogin(t, time.Now().Add(time.Hour))
	m := svc.manager(src)
	if _, err := m.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.Refused(t.Context(), "access-0") {
		t.Error("a login that cannot be renewed is said to be")
	}
	var login *LoginError
	if got, err := m.Token(t.Context()); !errors.As(err, &login) || svc.calls != 1 {
		t.Errorf("%q, %v, %d calls", got.Access, err, svc.calls)
	}
	if err := src.write(Token{Access: "fresh", Refresh: "r", Expires: time.Now().Add(time.Hour)}, "refresh-0"); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Token(t.Context()); err != nil || got.Access != "fresh" {
		t.Errorf("after a new login: %q, %v", got.Access, err)
	}
}

// If the token service fails shortly before a token expires, the token is still used.
func TestTokenIsUsedToItsEnd(t *testing.T) {
	svc := newService(t, "refresh-0")
	svc.answer = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusTooManyRequests); return true }
	now := time.Now()
	m := svc.manager(claudeLogin(t, now.Add(2*time.Minute)))
	m.options.Now = func() time.Time { return now }
	for range 3 {
		if got, err := m.Token(t.Context()); err != nil || got.Access != "access-0" || svc.calls != 1 {
			t.Errorf("%q, %v, %d calls", got.Access, err, svc.calls)
		}
	}
	now = now.Add(2*time.Minute + time.Second)
	svc.answer = nil
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("after its end: %q, %v", got.Access, err)
	}
}

func TestCodexLoginIsStoredAsCodexDoes(t *testing.T) {
	src := codex(t.TempDir())
	text := `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"i0","access_token":"a0","refresh_token":"refresh-0","account_id":"acc","x":1},"last_refresh":"2020-01-01T00:00:00Z"}`
	if err := os.WriteFile(src.Place(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := src.write(Token{Access: "a1", Refresh: "r1", ID: "i1", Account: "acc"}, "refresh-0"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Mode   string          `json:"auth_mode"`
		Key    json.RawMessage `json:"OPENAI_API_KEY"`
		Tokens map[string]any  `json:"tokens"`
		Last   time.Time       `json:"last_refresh"`
	}
	data, _ := os.ReadFile(src.Place())
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id_token": "i1", "access_token": "a1", "refresh_token": "r1", "account_id": "acc", "x": 1.0}
	if diff := cmp.Diff(want, got.Tokens); diff != "" || got.Mode != "chatgpt" || string(got.Key) != "null" || time.Since(got.Last) > time.Minute {
		t.Errorf("the file became %s\n%s", data, diff)
	}
}

func TestFailuresPauseAndSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter) bool
		login  bool
	}{
		"refused":   {func(w http.ResponseWriter) bool { w.WriteHeader(400); return true }, true},
		"throttled": {func(w http.ResponseWriter) bool { w.WriteHeader(429); return true }, false},
		"HTML":      {func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, "<html>"); return true }, false},
		"no token":  {func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, `{"access_token":""}`); return true }, false},
		"no header": {func(w http.ResponseWriter) bool {
			_, _ = io.WriteString(w, `{"access_token":"x\r\ny","refresh_token":"z"}`)
			return true
		}, false},
		"no refresh":  {func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, `{"access_token":"x"}`); return true }, false},
		"redirection": {func(w http.ResponseWriter) bool { w.Header().Set("Location", "/x"); w.WriteHeader(302); return true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newService(t, "refresh-0")
			svc.answer = c.answer
			src := claudeLogin(t, time.Now().Add(-time.Minute))
			before, _ := os.ReadFile(src.Place())
			m := svc.manager(src)
			now := time.Now()
			m.options.Now = func() time.Time { return now }
			_, err := m.Token(t.Context())
			var login *LoginError
			if err == nil || errors.As(err, &login) != c.login || c.login && login.Hint() == "" {
				t.Errorf("error %v", err)
			}
			if strings.Contains(err.Error(), "refresh-0") {
				t.Errorf("the error shows a token: %v", err)
			}
			if _, err := m.Token(t.Context()); err == nil || svc.calls != 1 {
				t.Errorf("no pause: %d calls, %v", svc.calls, err)
			}
			if after, _ := os.ReadFile(src.Place()); string(after) != string(before) {
				t.Errorf("the file was changed: %s", after)
			}
			now = now.Add(firstPause + time.Second)
			svc.answer = nil
			if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" {
				t.Errorf("after the pause: %q, %v", got.Access, err)
			}
		})
	}
}

func TestLoginMadeElsewhereIsSeenDuringThePause(t *testing.T) {
	svc := newService(t, "another")
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	m := svc.manager(src)
	if _, err := m.Token(t.Context()); err == nil {
		t.Fatal("a worthless refresh token was accepted")
	}
	if err := src.write(Token{Access: "fresh", Refresh: "r", Expires: time.Now().Add(time.Hour)}, "refresh-0"); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Token(t.Context()); err != nil || got.Access != "fresh" {
		t.Errorf("%q, %v", got.Access, err)
	}
}

func TestStaleLockIsTakenOver(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	for i, path := range src.locks {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(2*i-1) * 2 * staleAfter) // one in the past, one in the future
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := svc.manager(src).Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("%q, %v", got.Access, err)
	}
}

func TestHeldLockIsWaitedFor(t *testing.T) {
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	if err := os.Mkdir(src.locks[1], 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	svc := newService(t, "refresh-0")
	if _, err := svc.manager(src).Token(ctx); !errors.Is(err, context.DeadlineExceeded) || svc.calls != 0 {
		t.Errorf("%v, %d calls", err, svc.calls)
	}
	if _, err := os.Stat(src.locks[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first lock is left: %v", err)
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	env := Environment{Home: home, Getenv: func(string) string { return "" }}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	var login *LoginError
	if _, err := Find("anthropic", env, now); !errors.As(err, &login) {
		t.Errorf("nothing there: %v", err)
	}
	write(".claude/.credentials.json", fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"","expiresAt":%d}}`, now.Add(-time.Hour).UnixMilli()))
	if _, err := Find("anthropic", env, now); !errors.As(err, &login) || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
	write(".config/anthropic/credentials/default.json", fmt.Sprintf(`{"type":"oauth_token","access_token":"b","refresh_token":"r","expires_at":%d}`, now.Add(time.Hour).Unix()))
	if s, err := Find("anthropic", env, now); err != nil || s.Name != "the Anthropic CLI" {
		t.Errorf("%+v, %v", s, err)
	}
	write(".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"a","refreshToken":"r","expiresAt":0}}`)
	if s, err := Find("anthropic", env, now); err != nil || s.Name != "Claude Code" {
		t.Errorf("%+v, %v", s, err)
	}
	write(".codex/auth.json", `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"h.eyJleHAiOjQxMDI0NDQ4MDB9.s","refresh_token":"r","account_id":"acc"}}`)
	s, err := Find("chatgpt", env, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(); err != nil || got.Account != "acc" || got.Expires.Unix() != 4102444800 {
		t.Errorf("%v, %v", got.Expires, err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"r","expiresAt":1e3,"x":{}},"y":1}`))
	f.Add([]byte(`{"tokens":{"access_token":"a.b.c","account_id":1}}`))
	f.Add([]byte(`{"access_token":"a","expires_at":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []*Source{claudeCode("/h"), anthropicCLI("/h"), codex("/h")} {
			if _, err := s.parse(data); err != nil {
				continue
			}
			want := Token{Access: "new", Refresh: "r2", Expires: time.Unix(1900000000, 0)}
			merged, err := s.merge(data, want, time.Now())
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			got, err := s.parse(merged)
			if err != nil || got.Access != "new" || got.Refresh != "r2" {
				t.Fatalf("%q became %q: %v", data, merged, err)
			}
		}
	})
}
