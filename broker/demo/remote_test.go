package demo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// A push to the demo's server arrives, from every session, also after the server was started
// again, on the port it had.
func TestThePushArrives(t *testing.T) {
	home, host := t.TempDir(), ""
	var dir string
	for range 2 {
		g, r := served(t, home)
		if host == "" {
			host, dir = r.Host(), furnished(t, r)
		}
		if r.Host() != host {
			t.Errorf("it was at %s and is at %s", host, r.Host())
		}
		git(t, dir, "-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "--quiet", "--allow-empty", "-m", "more")
		git(t, dir, "push", "--quiet")
		if here, there := git(t, dir, "rev-parse", "main"), git(t, filepath.Join(g.Remotes, "hello.git"), "rev-parse", "main"); here != there {
			t.Errorf("%s was pushed and %s arrived", here, there)
		}
		// Another session has the same beginning, so it can go on from what has arrived.
		other := furnished(t, r)
		git(t, other, "pull", "--quiet", "--ff-only")
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server at another port is told to workspaces of before.
func TestAWorkspaceIsToldOfAnotherPort(t *testing.T) {
	home := t.TempDir()
	g, first := served(t, home)
	dir := furnished(t, first)
	if err := os.Remove(filepath.Join(g.Remotes, "port")); err != nil {
		t.Fatal(err)
	}
	_, second := served(t, home)
	if first.Host() == second.Host() {
		t.Fatal("both are at the same port")
	}
	if err := second.Tell(dir); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "push", "--quiet", "backup", "main")
	if got := git(t, dir, "remote", "get-url", "origin"); got != "http://"+second.Host()+"/hello.git" {
		t.Errorf("origin is %q", got)
	}
	for _, r := range []*demo.Remote{first, second} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A configuration that is something else than a file is left alone, as is an
// address that is not the server's, and what lies outside of the workspace.
func TestOnlyItsOwnAddressIsRewritten(t *testing.T) {
	_, r := served(t, t.TempDir())
	defer r.Close()
	const text = "[remote \"origin\"]\n\turl = http://127.0.0.1:1/hello.git\n"
	for name, change := range map[string]func(dir, other string) error{
		"a link": func(dir, other string) error {
			return errors.Join(os.Remove(filepath.Join(dir, ".git", "config")), os.Symlink(filepath.Join(other, "config"), filepath.Join(dir, ".git", "config")))
		},
		"a directory elsewhere": func(dir, other string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, ".git")), os.Symlink(other, filepath.Join(dir, ".git")))
		},
		"another address": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://git.example.org/hello.git\n"), 0o600)
		},
		"no repository": func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, ".git")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, other := furnished(t, r), t.TempDir()
			if err := os.WriteFile(filepath.Join(other, "config"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := change(dir, other); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(filepath.Join(dir, ".git", "config"))
			if err := r.Tell(dir); err != nil {
				t.Error(err)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, ".git", "config")); string(after) != string(before) {
				t.Errorf("%q became %q", before, after)
			}
		})
	}
}
