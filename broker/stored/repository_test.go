package stored

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
)

// What a killed multiplexer has made goes with its session, unless others work there.
func TestMadeBeforehandOfKilled(t *testing.T) {
	base, repo := bareOfHooks(t)
	hooks := filepath.Join(repo, ".git/hooks")
	shell(t, repo, "mkdir .git/hooks; touch .git/config")
	home, r := filepath.Join(base, "state"), Session{ID: "01234567-89ab-4def-8123-456789abcdef", Workspace: repo}
	l := LayoutOf(home, r.ID)
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (obeyed.Record{Made: ReadOnlyParts}).Keep(l.Obeyed()); err != nil {
		t.Fatal(err)
	}
	other, err := HoldRepository(repo)
	if err == nil {
		err = other.Share(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := RemoveMade(home, l, r); err != nil || !there(hooks) {
		t.Errorf("it is gone although another session holds it: %v", err)
	}
	if err := other.Release(nil, false); err != nil {
		t.Fatal(err)
	}
	if err := RemoveMade(home, l, r); err != nil || there(hooks) || there(filepath.Join(repo, ".git/config")) {
		t.Errorf("it is still there: %v", err)
	}
}
