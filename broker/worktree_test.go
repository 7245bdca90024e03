package broker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
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

// Who gets a worktree: whoever asks for one, and with "worktree" in config.json
// whoever has a repository and does not ask for the directory itself.
func TestChooseWorktree(t *testing.T) {
	base := realPath(shortTemp(t))
	repo, plain := filepath.Join(base, "repo"), filepath.Join(base, "plain")
	for _, dir := range []string{repo, plain} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, repo, "git init -q; "+commit)
	for _, tc := range []struct {
		configured bool
		choice     WorktreeChoice
		dir        string
		want       bool
		refused    string
	}{
		{dir: repo},
		{dir: repo, choice: WorktreeYes, want: true},
		{dir: repo, configured: true, want: true},
		{dir: repo, configured: true, choice: WorktreeNo},
		{dir: plain, configured: true},
		{configured: true},
		{dir: plain, choice: WorktreeYes, refused: "not the top directory of a git repository"},
		{choice: WorktreeYes, refused: "needs a repository"},
	} {
		b, err := New(Config{
			Home: filepath.Join(base, "state"), UserHome: filepath.Join(base, "user"), Agents: agent.Builtin(), DefaultAgent: "shell",
			Worktree: tc.configured, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.newFromRequest(OpenRequest{Workspace: tc.dir, Worktree: tc.choice})
		if shutdown := b.Shutdown(t.Context()); shutdown != nil {
			t.Fatal(shutdown)
		}
		if tc.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refused) || fault.Hint(err) == "" {
				t.Errorf("%+v: got %v", tc, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
			continue
		}
		if got := s.fixed.Worktree != nil; got != tc.want {
			t.Errorf("%+v: a worktree: %v", tc, got)
		}
		if tc.want && (s.fixed.Workspace != s.layout.worktree().Dir || s.fixed.Worktree.Repository != repo || s.base() == "") {
			t.Errorf("%+v: %+v", tc, s.fixed)
		}
	}
}

// storeWorktree makes the directory of a session that had a worktree of a repository.
func storeWorktree(t *testing.T, home string) (id SessionID, repo string, l layout) {
	t.Helper()
	repo = filepath.Join(realPath(home), "repo")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, repo, "git init -q; "+commit)
	id = SessionID("01234567-89ab-4def-8123-456789abcdef")
	l = layoutOf(home, id)
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	source, err := worktreeSource(t.Context(), repo, home)
	if err != nil {
		t.Fatal(err)
	}
	tree := source.Tree("ironcurtain/01234567")
	if err := l.worktree().Make(t.Context(), source, tree); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(record{Session: Session{ID: id, Agent: "shell", Workspace: l.worktree().Dir, Worktree: &tree}, Base: tree.Base})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return id, repo, l
}

// A stored session whose worktree has something that nobody else has is removed
// only by somebody who insists; what was committed is in the repository by then.
func TestRemoveStoredKeepsWork(t *testing.T) {
	home := shortTemp(t)
	id, repo, l := storeWorktree(t, home)
	shell(t, l.worktree().Dir, commit+"; echo new >new")
	err := RemoveStored(t.Context(), home, id, false, noEngine)
	if err == nil || !strings.Contains(err.Error(), "changes that are not committed") {
		t.Errorf("got %v", err)
	}
	if removed, err := Retire(t.Context(), home, 1); err == nil || len(removed) > 0 {
		t.Errorf("it was retired: %v, %v", removed, err)
	}
	if _, err := os.Stat(filepath.Join(l.worktree().Dir, "new")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveStored(t.Context(), home, id, true, noEngine); err != nil {
		t.Error(err)
	}
	shell(t, repo, `test "$(git rev-list --count ironcurtain/01234567)" = 2`)
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// One line says what a worktree has that the person's repository has not, where it is
// and what to do, also when its commits were not looked at or not even counted.
func TestWorkOf(t *testing.T) {
	s := Session{
		ID: "01234567-89ab-4def-8123-456789abcdef", Workspace: "/s/worktree",
		Worktree: &Worktree{Repository: "/r", Branch: "ironcurtain/01234567"},
	}
	const resume = "ironcurtain-mux sessions resume 01234567"
	for want, o := range map[string]worktree.Outcome{
		"": {Removed: true},
		"session 01234567 leaves 2 commits on branch ironcurtain/01234567 (git -C /r merge ironcurtain/01234567)": {Commits: 2},
		"session 01234567 leaves 1 commit in /s/worktree alone, because it was moved (git -C /r fetch /s/worktree ironcurtain/01234567)": {
			Commits: 1, Stuck: "it was moved"},
		"session 01234567 leaves commits in /s/worktree alone, because git needs more (" + resume + ") and changes in /s/worktree (" + resume + ")": {
			Stuck: "git needs more", TooLarge: true, Left: "changes"},
	} {
		if got := workOf(s, o); got != want {
			t.Errorf("%+v: %q, want %q", o, got, want)
		}
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
	if err := RemoveStored(ctx, home, id, false, noEngine); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
		t.Errorf("it ended after %v: %v", time.Since(began), err)
	}
	if err := errors.Join(w.Close(), <-other, r.Close()); err != nil {
		t.Error(err)
	}
	if err := RemoveStored(t.Context(), home, id, false, noEngine); err != nil {
		t.Error(err)
	}
}
