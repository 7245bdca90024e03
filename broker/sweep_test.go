package broker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Only what no process owns is a leftover, and only directories that sessions
// make are looked at.
func TestLeftovers(t *testing.T) {
	home := shortTemp(t)
	owned := layoutOf(home, "11111111-1111-4111-8111-111111111111")
	killed := layoutOf(home, "22222222-2222-4222-8222-222222222222")
	forgotten := layoutOf(home, "33333333-3333-4333-8333-333333333333")
	for _, l := range []layout{owned, killed, forgotten} {
		if err := l.make(callerIdentity()); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := docker.AcquireLease(owned.lock())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lease.Release() }()
	// A killed process leaves the file of its lease, and no lock on it.
	if err := os.WriteFile(killed.lock(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(forgotten.dir); err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	if err := os.Symlink(scratch, killed.scratch()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "run", "control.sock.lock")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	want := []string{killed.run, forgotten.run}
	for _, remove := range []bool{false, true} {
		got, err := Leftovers(t.Context(), home, remove)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("removing %v (-want +got):\n%s", remove, diff)
		}
	}
	for path, want := range map[string]bool{owned.run: true, killed.run: false, scratch: false, forgotten.run: false, other: true, killed.dir: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	if got, err := Leftovers(t.Context(), filepath.Join(home, "absent"), true); got != nil || err != nil {
		t.Errorf("without a home: %v, %v", got, err)
	}
}

// Whether something was left is known at once, from the disk; what still runs only
// when the engine has answered. Nothing but taking back waits for that.
func TestSweepWaitsForNobody(t *testing.T) {
	home := shortTemp(t)
	silent, err := net.Listen("unix", filepath.Join(home, "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it takes connections and never answers
	t.Setenv("DOCKER_HOST", "unix://"+silent.Addr().String())
	killed := layoutOf(home, "22222222-2222-4222-8222-222222222222")
	for _, left := range []bool{false, true} {
		if left {
			if err := killed.make(callerIdentity()); err != nil {
				t.Fatal(err)
			}
		}
		b, err := New(Config{Home: home, DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Sweep(); got != left {
			t.Errorf("something was left: %v, want %v", got, left)
		}
		if err := b.CheckAgent(t.Context(), "shell"); err != nil {
			t.Errorf("an engine that is only slow: %v", err)
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Open(impatient, OpenRequest{Resume: "22222222-2222-4222-8222-222222222222"}); !errors.Is(err, context.Canceled) {
			t.Errorf("taken back in the middle of the sweep: %v", err)
		}
		if err := b.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if ids, err := b.LeftRunning(t.Context()); len(ids) != 0 || err != nil {
			t.Errorf("after a sweep without an answer: %v, %v", ids, err)
		}
	}
}
