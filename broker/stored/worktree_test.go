package stored

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// storeWorktree makes the directory of a session that had a worktree of a repository.
func storeWorktree(t *testing.T, home string) (id ID, repo string, l Layout) {
	t.Helper()
	repo = filepath.Join(RealPath(home), "repo")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, repo, "git init -q; "+commit)
	id = ID("01234567-89ab-4def-8123-456789abcdef")
	l = LayoutOf(home, id)
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	source, err := worktree.Open(t.Context(), repo, home)
	if err != nil {
		t.Fatal(err)
	}
	tree := source.Tree("ironcurtain/01234567")
	if err := l.Worktree().Make(t.Context(), source, tree); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(Record{Session: Session{ID: id, Agent: "shell", Workspace: l.Worktree().Dir, Worktree: &tree}, Base: tree.Base})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return id, repo, l
}

// A stored session whose worktree has something that nobody else has is removed
// only by somebody who insists; what was committed is in the repository by then.
func TestRemoveStoredKeepsWork(t *testing.T) {
	home := shortTemp(t)
	id, repo, l := storeWorktree(t, home)
	shell(t, l.Worktree().Dir, commit+"; echo new >new")
	err := Remove(t.Context(), home, id, false, noEngine)
	if err == nil || !strings.Contains(err.Error(), "changes that are not committed") {
		t.Errorf("got %v", err)
	}
	if removed, err := Retire(t.Context(), home, 1); err == nil || len(removed) > 0 {
		t.Errorf("it was retired: %v, %v", removed, err)
	}
	if _, err := os.Stat(filepath.Join(l.Worktree().Dir, "new")); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), home, id, true, noEngine); err != nil {
		t.Error(err)
	}
	shell(t, repo, `test "$(git rev-list --count ironcurtain/01234567)" = 2`)
	if _, err := os.Stat(l.Dir); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// A removal that waits while git is at work for another session ends at once when it is
// told to.
func TestRemovalStopsWhileItWaits(t *testing.T) {
	home := shortTemp(t)
	id, repo, _ := storeWorktree(t, home)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	other := make(chan error, 1) // one value: how git ended
	go func() {
		other <- gitrun.Thorough.Run(t.Context(), gitrun.Command{Args: []string{"hash-object", "--stdin"}, Env: []string{"GIT_DIR=" + repo + "/.git"}, In: r})
	}()
	if _, err := w.Write(make([]byte, 1<<20)); err != nil { // more than the pipe holds: git reads
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	began := time.Now()
	if err := Remove(ctx, home, id, false, noEngine); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
		t.Errorf("it ended after %v: %v", time.Since(began), err)
	}
	if err := errors.Join(w.Close(), <-other, r.Close()); err != nil {
		t.Error(err)
	}
	if err := Remove(t.Context(), home, id, false, noEngine); err != nil {
		t.Error(err)
	}
}

// What an agent has left is known as an agent's also while it is removed: an interrupted
// removal leaves it, and its files are not searched for names of protected ones.
func TestHalfRemovedWorktreeIsAnAgents(t *testing.T) {
	home := shortTemp(t)
	_, _, l := storeWorktree(t, home)
	shell(t, l.Worktree().Dir, "mkdir many; touch many/left")
	record, err := ReadRecord(l)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Worktree().Remove(ctx, *record.Worktree); err == nil {
		t.Fatal("it was removed")
	}
	left, err := filepath.Glob(filepath.Join(l.Dir, "*", "many", "left"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left are %q, %v", left, err)
	}
	dir := filepath.Dir(filepath.Dir(RealPath(left[0])))
	if !slices.ContainsFunc(AgentDirs(home), func(pattern string) bool { is, _ := filepath.Match(pattern, dir); return is }) {
		t.Errorf("%s is nobody's", dir)
	}
}
