package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A killed process of this program leaves its lock directories. The next process does not
// wait until they are stale, but it waits for those of a running process.
func TestLockOfAKilledProcess(t *testing.T) {
	svc := newService(t, "refresh-0")
	src := claudeLogin(t, time.Now().Add(-time.Minute))
	dir := filepath.Dir(src.Place())
	release, err := lockAll(t.Context(), dir, src.locks)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	if _, err := svc.manager(src).Token(ctx); !errors.Is(err, context.DeadlineExceeded) || svc.calls != 0 {
		t.Errorf("beside a living process: %v, %d calls", err, svc.calls)
	}
	release()
	for _, path := range src.locks {
		if err := os.Mkdir(path, 0o700|ours); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := svc.manager(src).Token(t.Context()); err != nil || got.Access != "access-1" {
		t.Errorf("after a killed process: %q, %v", got.Access, err)
	}
	for _, path := range src.locks {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// A lock that another program took over as stale while we were stopped is not released.
func TestLockThatWasTakenOverIsLeftAlone(t *testing.T) {
	src := claudeLogin(t, time.Now())
	release, err := lockAll(t.Context(), filepath.Dir(src.Place()), src.locks)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(src.locks[1]), os.Mkdir(src.locks[1], 0o755)); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := os.Lstat(src.locks[1]); err != nil {
		t.Error(err)
	}
}

// A login that could not be written is written later, but never over a login that the
// person made meanwhile.
func TestUnsavedLogin(t *testing.T) {
	for _, anew := range []bool{false, true} {
		svc := newService(t, "refresh-0")
		src := claudeLogin(t, time.Now().Add(-time.Minute))
		text, err := os.ReadFile(src.Place())
		if err != nil {
			t.Fatal(err)
		}
		var moved atomic.Bool
		svc.answer = func(http.ResponseWriter) bool { // takes the file away while it answers
			moved.Store(os.Remove(src.Place()) == nil)
			return false
		}
		m := svc.manager(src)
		if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" || !moved.Load() {
			t.Fatalf("%q, %v", got.Access, err)
		}
		want := "access-1"
		if anew {
			want = "by-hand"
			text = []byte(strings.NewReplacer("access-0", want, "refresh-0", "refresh-of-"+want).Replace(string(text)))
		}
		if err := os.WriteFile(src.Place(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Token(t.Context()); err != nil {
			t.Error(err)
		}
		if got, err := src.Read(); err != nil || got.Access != want {
			t.Errorf("the file holds %q, want %q (%v)", got.Access, want, err)
		}
	}
}

// If a provider refuses every token, the login is renewed a few times, not for each
// request.
func TestEveryTokenIsRefused(t *testing.T) {
	svc := newService(t, "refresh-0")
	m := svc.manager(claudeLogin(t, time.Now().Add(time.Hour)))
	renewed := 0
	for range 10 {
		got, err := m.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m.Refused(t.Context(), got.Access) {
			renewed++
		}
	}
	if renewed != 1+mostQuick || svc.calls != renewed {
		t.Errorf("renewed %d times by %d calls", renewed, svc.calls)
	}
}

// A token that has expired by our clock when it comes is still used for a while, so that
// the service is not asked for each request.
func TestTokenThatEndsAtOnce(t *testing.T) {
	svc := newService(t, "refresh-0")
	svc.answer = func(w http.ResponseWriter) bool {
		_, _ = io.WriteString(w, `{"access_token":"short","refresh_token":"r","expires_in":1}`)
		return true
	}
	now := time.Now()
	m := NewManager(claudeLogin(t, now.Add(-time.Minute)), Options{Client: svc.Client(), Endpoint: svc.URL, Now: func() time.Time { return now }})
	for range 3 {
		if got, err := m.Token(t.Context()); err != nil || got.Access != "short" {
			t.Errorf("%q, %v", got.Access, err)
		}
	}
	now = now.Add(2 * newTime)
	if _, err := m.Token(t.Context()); err != nil || svc.calls != 2 {
		t.Errorf("%v, %d calls", err, svc.calls)
	}
}
