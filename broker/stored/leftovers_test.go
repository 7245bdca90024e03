package stored

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Only what no process owns is a leftover, and only directories that sessions
// Make are looked at.
func TestLeftovers(t *testing.T) {
	home := shortTemp(t)
	owned := LayoutOf(home, "11111111-1111-4111-8111-111111111111")
	killed := LayoutOf(home, "22222222-2222-4222-8222-222222222222")
	forgotten := LayoutOf(home, "33333333-3333-4333-8333-333333333333")
	for _, l := range []Layout{owned, killed, forgotten} {
		if err := l.Make(ContainerUser()); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := docker.AcquireLease(owned.Lock())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lease.Release() }()
	// A killed process leaves the file of its lease, and no lock on it.
	if err := os.WriteFile(killed.Lock(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(forgotten.Dir); err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	if err := os.Symlink(scratch, killed.Scratch()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "run", "control.sock.lock")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	want := []string{killed.Run, forgotten.Run}
	for _, remove := range []bool{false, true} {
		got, err := Leftovers(t.Context(), home, remove)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("removing %v (-want +got):\n%s", remove, diff)
		}
	}
	for path, want := range map[string]bool{owned.Run: true, killed.Run: false, scratch: false, forgotten.Run: false, other: true, killed.Dir: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	if got, err := Leftovers(t.Context(), filepath.Join(home, "absent"), true); got != nil || err != nil {
		t.Errorf("without a home: %v, %v", got, err)
	}
}
