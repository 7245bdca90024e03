package demo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
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

// A person is told what failed, and what to do next.
func TestFailuresSayWhatToDo(t *testing.T) {
	for name, tc := range map[string]struct {
		inTheWay        string // a file below the home
		path            string // of programs
		op, cause, next string
	}{
		"no directories": {"demo", os.Getenv("PATH"), "make the demo's directories: ", "not a directory", "writable and its disk has room, or set IRONCURTAIN_HOME"},
		"no git":         {"other", t.TempDir(), "start the demo's git server: ", "git is not installed", "install git"},
		"no repository":  {"demo/remotes/hello.git", os.Getenv("PATH"), "start the demo's git server: ", "hello.git", "remove "},
		"no port":        {"demo/remotes/port/file", os.Getenv("PATH"), "start the demo's git server: ", "port", "writable and its disk has room, or set IRONCURTAIN_HOME"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)
			home := t.TempDir()
			path := filepath.Join(home, tc.inTheWay)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			g, err := demo.Prepare(home)
			if err == nil {
				_, err = demo.Serve(t.Context(), g)
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.op) || !strings.Contains(err.Error(), tc.cause) || !strings.Contains(fault.Hint(err), tc.next) {
				t.Errorf("%v (%s)", err, fault.Hint(err))
			}
		})
	}
}
