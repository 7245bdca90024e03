package gitauth

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a person's home with git's configuration, a directory for calls that sandboxes
// do not see, and a workspace.
type world struct{ home, state, workspace string }

const token = "tok-5ecretZ7wq91"

// newWorld makes it, and makes it the environment of this test.
func newWorld(t *testing.T) world {
	t.Helper()
	top, err := os.MkdirTemp("", "gitauth") // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	w := world{home: filepath.Join(top, "home"), state: filepath.Join(top, "state"), workspace: filepath.Join(top, "work")}
	for _, dir := range []string{w.state, w.workspace} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gitserver.Person(t, w.home)
	return w
}

// run runs a program of the host, which must succeed.
func run(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

// write makes a file, with the directories above it.
func write(t *testing.T, path, text string, perm os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		t.Fatal(err)
	}
	return path
}

func address(t *testing.T, text string) gitx.Address {
	t.Helper()
	a, err := gitx.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// store makes the person's git keep a login.
func store(t *testing.T, w world, url, secret string) {
	t.Helper()
	run(t, "git", "config", "--global", "credential.helper", "store")
	write(t, filepath.Join(w.home, ".git-credentials"), strings.Replace(url, "://", "://me:"+secret+"@", 1)+"\n", 0o600)
}
