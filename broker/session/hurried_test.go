package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// A git that does not end in a worktree does not delay the end of the process, whether the
// process is told to end before the look at the worktree or during it. The worktree stays,
// and the person is told.
func TestNoWorktreeHoldsUpTheEnd(t *testing.T) {
	for name, before := range map[string]bool{"told before": true, "told meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			base := stored.RealPath(t.TempDir())
			repo := filepath.Join(base, "repo")
			if err := os.Mkdir(repo, 0o700); err != nil {
				t.Fatal(err)
			}
			shell(t, repo, "git init -q; "+commit)
			d := testDeps(t, Config{
				Home: filepath.Join(base, "state"), UserHome: filepath.Join(base, "user"), Agents: agent.Builtin(), DefaultAgent: "shell",
			})
			hurried, hurry := context.WithCancel(t.Context())
			d.Hurried = hurried
			s, err := New(d, Request{Workspace: repo, Worktree: WorktreeYes})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(s.layout.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := s.makeWorktree(t.Context(), &teardown{}); err != nil {
				t.Fatal(err)
			}
			shell(t, s.fixed.Workspace, commit)

			began := filepath.Join(base, "began")
			shell(t, base, "mkdir bin; mkfifo began; printf '#!/bin/sh\\necho >"+began+"\\nexec sleep 1000\\n' >bin/git; chmod +x bin/git")
			path := os.Getenv("PATH")
			t.Setenv("PATH", filepath.Join(base, "bin")+":"+path)
			if before {
				hurry()
			}
			go func() {
				_, _ = os.ReadFile(began) // the read ends when git has begun
				hurry()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), settleTime/2)
			defer cancel()
			if err := s.settleWorktree(ctx); err != nil || ctx.Err() != nil {
				t.Fatalf("got %v, %v", err, ctx.Err())
			}
			said := strings.Join(eventsOf(s).endNotices(), "\n")
			if !strings.Contains(said, "there was no time to finish it") || !strings.Contains(said, "sessions resume") || !there(s.fixed.Workspace) || !there(s.layout.Unsettled()) {
				t.Errorf("it is gone, or %q is said, or the next start says nothing", said)
			}

			t.Setenv("PATH", path)
			d.Hurried = t.Context()
			if err := s.settleWorktree(t.Context()); err != nil || there(s.layout.Unsettled()) {
				t.Errorf("with time: %v, or the next start says that there was none", err)
			}
		})
	}
}
