package session

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// shell runs commands in a directory.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

const commit = "git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x"

// bareOfHooks makes a repository without hooks and without configuration.
func bareOfHooks(t *testing.T) (base, repo string) {
	t.Helper()
	base = stored.RealPath(t.TempDir())
	repo = filepath.Join(base, "repo")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, repo, "git init -q --template=; rm .git/config; "+commit)
	return base, repo
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
