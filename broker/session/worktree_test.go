package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// A session gets a worktree if its request asks for one. With "worktree" in config.json, a
// session on a repository gets one unless its request asks for the directory itself.
func TestChooseWorktree(t *testing.T) {
	base := stored.RealPath(t.TempDir())
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
		repo       string
		branch     string
	}{
		{repo: "https://example.com/x.git", branch: "b", want: true},
		{repo: "me@example.com:x.git", configured: true, want: true},
		{repo: "https://me:secret@example.com/x.git", refused: "the remote"},
		{repo: "https://example.com/x.git", branch: "--upload-pack=x", refused: "not the name of a branch"},
		{repo: "https://example.com/x.git", dir: repo, refused: "makes a workspace of its own"},
		{repo: "https://example.com/x.git", choice: WorktreeNo, refused: "makes a workspace of its own"},
		{branch: "b", refused: "--branch is for --repo"},
		{dir: repo},
		{dir: repo, choice: WorktreeYes, want: true},
		{dir: repo, configured: true, want: true},
		{dir: repo, configured: true, choice: WorktreeNo},
		{dir: plain, configured: true},
		{configured: true},
		{dir: plain, choice: WorktreeYes, refused: "not the top directory of a git repository"},
		{choice: WorktreeYes, refused: "needs a repository"},
	} {
		d := testDeps(t, Config{
			Home: filepath.Join(base, "state"), UserHome: filepath.Join(base, "user"), Agents: agent.Builtin(), DefaultAgent: "shell",
			Worktree: tc.configured,
		})
		s, err := New(d, Request{Workspace: tc.dir, Worktree: tc.choice, Repo: tc.repo, Branch: tc.branch})
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
		if tc.repo != "" {
			if tree := s.fixed.Worktree; tree == nil || !tree.Cloned || tree.Repository != tc.repo || tree.Branch != tc.branch || s.fixed.Workspace != s.layout.Worktree().Dir {
				t.Errorf("%+v: %+v", tc, s.fixed)
			}
			continue
		}
		if tc.want && (s.fixed.Workspace != s.layout.Worktree().Dir || s.fixed.Worktree.Repository != repo || s.base() == "") {
			t.Errorf("%+v: %+v", tc, s.fixed)
		}
	}
}

// One line says which work only the worktree has, where it is and what to do, even if its
// commits were not checked or counted.
func TestWorkOf(t *testing.T) {
	s := stored.Session{
		ID: "01234567-89ab-4def-8123-456789abcdef", Workspace: "/s/worktree",
		Worktree: &stored.Worktree{Repository: "/r", Branch: "ironcurtain/01234567"},
	}
	const resume = "ironcurtain-mux sessions resume 01234567"
	for want, o := range map[string]worktree.Outcome{
		"": {Removed: true},
		"session 01234567 leaves 2 commits on branch ironcurtain/01234567 (git -C /r merge ironcurtain/01234567)": {Commits: 2},
		"session 01234567 leaves 1 commit in /s/worktree alone, because it was moved (git -C /r fetch /s/worktree ironcurtain/01234567)": {
			Commits: 1, Stuck: "it was moved",
		},
		"session 01234567 leaves commits in /s/worktree alone, because git needs more (" + resume + ") and changes in /s/worktree (" + resume + ")": {
			Stuck: "git needs more", TooLarge: true, Left: "changes",
		},
	} {
		if got := workOf(s, o); got != want {
			t.Errorf("%+v: %q, want %q", o, got, want)
		}
	}
}
