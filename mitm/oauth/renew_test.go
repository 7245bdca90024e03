package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// journaled is a manager of the service that keeps a journal in a directory.
func (s *service) journaled(src *Source, dir string) *Manager {
	return NewManager(src, Options{Client: s.Client(), Endpoint: s.URL, Journal: dir})
}

// asked is how often the service was asked.
func (s *service) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// notes lists the journal's files, and fails when one shows a token.
func notes(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || strings.Contains(string(data), "refresh-") || strings.Contains(string(data), "access-") {
			t.Errorf("%s holds %s, %v", e.Name(), data, err)
		}
	}
	return names
}

// If the answer is lost, so is the login, because the service accepts only the new refresh
// token and nobody has it. The next process says what happened, asks once, and does not
// ask again before a person has logged in.
func TestRenewalThatWasCutOff(t *testing.T) {
	svc := newService(t, "refresh-0")
	src, dir := claudeLogin(t, time.Now().Add(-time.Minute)), t.TempDir()
	svc.answer = func(http.ResponseWriter) bool {
		svc.valid = "nobody has it"
		panic(http.ErrAbortHandler)
	}
	var login *LoginError
	if _, err := svc.journaled(src, dir).Token(t.Context()); err == nil || errors.As(err, &login) {
		t.Fatalf("an answer that was lost: %v", err)
	}
	if got := notes(t, dir); len(got) != 1 {
		t.Fatalf("the journal holds %v", got)
	}
	svc.mu.Lock()
	svc.answer, svc.calls = nil, 0
	svc.mu.Unlock()
	m := svc.journaled(src, dir)
	now := time.Now()
	m.options.Now = func() time.Time { return now }
	for range 3 {
		_, err := m.Token(t.Context())
		if !errors.As(err, &login) || !strings.Contains(err.Error(), "was cut off at") || !strings.Contains(login.Hint(), "claude /login") || svc.asked() != 1 {
			t.Errorf("%v, %d calls", err, svc.asked())
		}
		now = now.Add(2 * lastPause)
	}
	if err := src.write(Token{Access: "by-hand", Refresh: "refresh-by-hand", Expires: now.Add(time.Minute)}, "refresh-0"); err != nil {
		t.Fatal(err)
	}
	svc.mu.Lock()
	svc.valid = "refresh-by-hand"
	svc.mu.Unlock()
	now = now.Add(2 * lastPause)
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("after a new login: %q, %v", got.Access, err)
	}
	if got := notes(t, dir); len(got) != 0 {
		t.Errorf("the journal holds %v", got)
	}
}

// A renewal that was interrupted before the service had seen it loses nothing.
func TestCutOffBeforeTheServiceSawIt(t *testing.T) {
	svc := newService(t, "refresh-0")
	src, dir := claudeLogin(t, time.Now().Add(-time.Minute)), t.TempDir()
	journalOf(dir, src).begin(src, "refresh-0", time.Now())
	if got, err := svc.journaled(src, dir).Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("%q, %v", got.Access, err)
	}
	if got := notes(t, dir); len(got) != 0 {
		t.Errorf("the journal holds %v", got)
	}
}

// Any refusal of the service ends the journal's record, because its result is known.
func TestRefusalEndsTheJournal(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusTooManyRequests} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			svc := newService(t, "refresh-0")
			svc.answer = func(w http.ResponseWriter) bool { w.WriteHeader(status); return true }
			src, dir := claudeLogin(t, time.Now().Add(-time.Minute)), t.TempDir()
			_, err := svc.journaled(src, dir).Token(t.Context())
			if err == nil || strings.Contains(err.Error(), "cut off") {
				t.Errorf("status %d: %v", status, err)
			}
			if got := notes(t, dir); len(got) != 0 {
				t.Errorf("status %d: the journal holds %v", status, got)
			}
		})
	}
}

// If a request is canceled while the service answers, the login is stored anyway, and
// other requests do not have to wait.
func TestCallerGoesAway(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	m := svc.manager(src)
	ctx, cancel := context.WithCancel(t.Context())
	svc.answer = func(http.ResponseWriter) bool { cancel(); return false }
	_, _ = m.Token(ctx)
	if got, err := src.Read(); err != nil || got.Access != "access-1" {
		t.Errorf("the file holds %q, %v", got.Access, err)
	}
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" || svc.asked() != 1 {
		t.Errorf("%q, %v, %d calls", got.Access, err, svc.asked())
	}
	// The same while it waits for a lock.
	svc = newService(t, "refresh-0")
	src = claudeLogin(t, time.Now().Add(-time.Minute))
	m = svc.manager(src)
	if err := os.Mkdir(src.locks[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Token(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone away: %v", err)
	}
	if err := os.Remove(src.locks[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("the next caller: %q, %v", got.Access, err)
	}
}

func TestDeadTokens(t *testing.T) {
	for text, want := range map[string]bool{
		`{"error":"invalid_grant"}`:                 true,
		`{"error":{"code":"refresh_token_reused"}}`: true,
		`{"error":{"code":"rate_limited"}}`:         false,
		`{"error":"invalid_request"}`:               false,
		`{"error":["invalid_grant"]}`:               false,
		`{"message":"invalid_grant"}`:               false,
		`<html>`:                                    false,
		``:                                          false,
		`{"error":null}`:                            false,
		`{"error":{"code":7,"message":"invalid_grant"}}`: false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := deadToken([]byte(text)); got != want {
				t.Errorf("%s: %t", text, got)
			}
		})
	}
}

// The old refresh token is invalid once the service has answered, so other faults of the
// answer must not lose the login.
func TestOddAnswersOfTheService(t *testing.T) {
	for members, want := range map[string]time.Duration{
		`"expires_in":7200`:                              2 * time.Hour,
		`"expires_in":"7200"`:                            2 * time.Hour,
		`"expires_in":7200.5`:                            2 * time.Hour,
		`"expires_in":null`:                              time.Hour,
		`"expires_in":-1`:                                time.Hour,
		`"expires_in":1e300`:                             time.Hour,
		`"expires_in":"soon"`:                            time.Hour,
		`"expires_in":7200,"id_token":{"a":1}`:           2 * time.Hour,
		`"expires_in":7200,"account":[],"id_token":null`: 2 * time.Hour,
	} {
		t.Run(members, func(t *testing.T) {
			svc := newService(t, "refresh-0")
			svc.answer = func(w http.ResponseWriter) bool {
				_, _ = io.WriteString(w, `{"access_token":"new","refresh_token":"next",`+members+`}`)
				return true
			}
			src := claudeLogin(t, time.Now().Add(-time.Minute))
			m := svc.manager(src)
			now := time.Now()
			m.options.Now = func() time.Time { return now }
			got, err := m.Token(t.Context())
			if err != nil || got.Access != "new" || got.Expires.Sub(now) != want {
				t.Errorf("%s: %q for %v, %v", members, got.Access, got.Expires.Sub(now), err)
			}
			if stored, err := src.Read(); err != nil || stored.Refresh != "next" {
				t.Errorf("%s: stored %q, %v", members, stored.Refresh, err)
			}
		})
	}
}
