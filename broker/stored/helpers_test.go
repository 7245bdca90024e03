package stored

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

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

// storeSession makes the directory of a session that was used so long ago.
func storeSession(t *testing.T, home, agentName string, ago time.Duration) Layout {
	t.Helper()
	id, err := NewID()
	if err != nil {
		t.Fatal(err)
	}
	l := LayoutOf(home, id)
	if err := l.Make(ContainerUser()); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-ago).Truncate(time.Second).UTC()
	data, err := json.Marshal(Record{Session: Session{
		ID: id, Agent: agentName, State: StateIdle, Workspace: l.Sandbox(), CreatedAt: at.Add(-time.Hour),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(l.Record(), at, at); err != nil {
		t.Fatal(err)
	}
	return l
}

// bareOfHooks makes a repository without hooks and without configuration.
func bareOfHooks(t *testing.T) (base, repo string) {
	t.Helper()
	base = RealPath(shortTemp(t))
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
