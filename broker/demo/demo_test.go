package demo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
)

func TestPrepareTwiceKeepsWhatIsThere(t *testing.T) {
	home := t.TempDir()
	g, err := demo.Prepare(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.Notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(g.Workspace, "hello.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Prepare(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(g.Notes); string(text) != "mine" {
		t.Errorf("the notes were written over: %q", text)
	}
	if _, err := os.Stat(filepath.Join(g.Workspace, "hello.txt")); err == nil {
		t.Error("a file that was removed came back")
	}
}

func TestWorkspaceIsARepositoryWithARemote(t *testing.T) {
	g, err := demo.Prepare(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", g.Workspace, "-c", "safe.directory=*", "log", "--format=%s", "main").Output()
	if err != nil || strings.TrimSpace(string(out)) != "Begin" {
		t.Fatalf("log: %q, %v", out, err)
	}
	out, err = exec.CommandContext(t.Context(), "git", "-C", g.Workspace, "remote", "get-url", "origin").Output()
	if err != nil || !strings.HasPrefix(string(out), "http://127.0.0.") {
		t.Fatalf("remote: %q, %v", out, err)
	}
}
