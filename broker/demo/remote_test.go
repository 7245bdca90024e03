package demo_test

import (
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

// A push to the demo's server arrives, also after it was started again, on the
// port it had.
func TestThePushArrives(t *testing.T) {
	g, err := demo.Prepare(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	host := ""
	for range 2 {
		r, err := demo.Serve(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if host == "" {
			host = r.Host()
		}
		if r.Host() != host {
			t.Errorf("it was at %s and is at %s", host, r.Host())
		}
		git(t, g.Workspace, "-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "--quiet", "--allow-empty", "-m", "more")
		git(t, g.Workspace, "push", "--quiet")
		if here, there := git(t, g.Workspace, "rev-parse", "main"), git(t, filepath.Join(g.Remotes, "hello.git"), "rev-parse", "main"); here != there {
			t.Errorf("%s was pushed and %s arrived", here, there)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A configuration that is something else than a file is left alone, as is an
// address that is not the server's.
func TestOnlyItsOwnAddressIsRewritten(t *testing.T) {
	g, err := demo.Prepare(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(g.Workspace, ".git", "config")
	other := filepath.Join(t.TempDir(), "other")
	const text = "[remote \"origin\"]\n\turl = http://127.0.0.1:1/hello.git\n"
	if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"a link": func() error { return os.Symlink(other, config) },
		"another address": func() error {
			return os.WriteFile(config, []byte("[remote \"origin\"]\n\turl = https://git.example.org/hello.git\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Remove(config); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			r, err := demo.Serve(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(config); err != nil || string(after) != string(before) {
				t.Errorf("%s: %q became %q, %v", name, before, after, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
