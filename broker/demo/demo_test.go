package demo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
)

// served is a playground with its git server.
func served(t *testing.T, home string) (demo.Playground, *demo.Remote) {
	t.Helper()
	g, err := demo.Prepare(home)
	if err != nil {
		t.Fatal(err)
	}
	r, err := demo.Serve(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

// furnished is a new workspace.
func furnished(t *testing.T, r *demo.Remote) string {
	t.Helper()
	dir := t.TempDir()
	if err := r.Furnish(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPrepareTwiceKeepsWhatIsThere(t *testing.T) {
	home := t.TempDir()
	g, err := demo.Prepare(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.Notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Prepare(home); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(g.Notes); string(text) != "mine" {
		t.Errorf("the notes were written over: %q", text)
	}
}

func TestAWorkspaceIsARepositoryWithRemotes(t *testing.T) {
	_, r := served(t, t.TempDir())
	defer r.Close()
	dir := furnished(t, r)
	if text, err := os.ReadFile(filepath.Join(dir, demo.Hello)); err != nil || !strings.Contains(string(text), "Hello") {
		t.Errorf("%q, %v", text, err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "-c", "safe.directory=*", "log", "--format=%s", "main").Output()
	if err != nil || strings.TrimSpace(string(out)) != "Begin" {
		t.Fatalf("log: %q, %v", out, err)
	}
	for _, name := range []string{"origin", "backup"} {
		if got := git(t, dir, "remote", "get-url", name); !strings.HasPrefix(got, "http://"+r.Host()+"/") {
			t.Errorf("%s is %q", name, got)
		}
	}
}
