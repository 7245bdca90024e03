package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// preparing makes a session on that repository whose container is about to be started.
func preparing(t *testing.T, base, repo string) (*Session, func()) {
	t.Helper()
	d := testDeps(t, Config{
		Home: filepath.Join(base, "state"), UserHome: filepath.Join(base, "user"), Agents: agent.Builtin(), DefaultAgent: "shell",
	})
	d.Engine = func(context.Context) (*docker.Client, error) { return nil, docker.ErrNoEngine }
	s, err := New(d, Request{Workspace: repo})
	if err != nil {
		t.Fatal(err)
	}
	stack := &teardown{limit: settleTime}
	if err := s.prepare(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	return s, func() {
		t.Helper()
		if err := errors.Join(stack.run(t.Context()), s.Release()); err != nil {
			t.Error(err)
		}
	}
}

// Files that git would run or obey and that a repository lacks are made before the agent
// can make them, are read-only in the container, and are removed when the last session on
// the repository ends.
func TestMadeBeforehand(t *testing.T) {
	base, repo := bareOfHooks(t)
	hooks, config := filepath.Join(repo, ".git/hooks"), filepath.Join(repo, ".git/config")
	first, endFirst := preparing(t, base, repo)
	second, endSecond := preparing(t, base, repo)
	for _, s := range []*Session{first, second} {
		for _, want := range []string{hooks, config} {
			if !slices.ContainsFunc(s.repositoryMounts(), func(m docker.Mount) bool { return m.Source == want && m.ReadOnly }) {
				t.Errorf("%s is not read-only: %v", want, s.repositoryMounts())
			}
		}
	}
	if out, err := exec.Command("git", "-C", repo, "status", "--short").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("git says %q, %v", out, err)
	}
	endFirst()
	if !there(hooks) || !there(config) {
		t.Error("they are gone while another session works there")
	}
	endSecond()
	if there(hooks) || there(config) {
		t.Error("they are still there")
	}
	// Files that a person has put there stay.
	_, end := preparing(t, base, repo)
	shell(t, repo, "echo mine >.git/hooks/pre-push")
	end()
	if !there(hooks+"/pre-push") || there(config) {
		t.Error("what is the person's is gone, or the rest is not")
	}
}

// The files that an agent leaves are named when its session ends, and again for the
// stored session. A session that left nothing says nothing.
func TestWhatAnAgentLeavesIsNamed(t *testing.T) {
	base, repo := bareOfHooks(t)
	for _, tc := range []struct{ script, want string }{
		{"echo x >file; git add file", ""},
		{"echo x >.envrc; git init -q sub", "new: sub/.git (git uses this repository there instead of the one around it)\nnew: .envrc (the shell loads it)"},
		{"for i in $(seq 30); do mkdir d$i; touch d$i/.envrc; done", "more, which 'ironcurtain-mux sessions show"},
	} {
		s, end := preparing(t, base, repo)
		s.program = &takenBack{} // the agent has begun
		shell(t, repo, tc.script)
		end()
		said := eventsOf(s).endNotices()
		if len(said) > maxReported+2 || (tc.want == "") != (len(said) == 0) {
			t.Errorf("%s: %q", tc.script, said)
		}
		for _, want := range strings.Split(tc.want, "\n") {
			if !slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, want) }) && want != "" {
				t.Errorf("%s: %q is not said: %q", tc.script, want, said)
			}
		}
		entry := stored.Entry{Session: s.fixed}
		o, err := stored.ObeyedOf(t.Context(), s.deps.Config.Home, "", entry)
		if err != nil || (len(o.Found) > 0) != (tc.want != "") || o.Missed != "" {
			t.Errorf("stored: %+v, %v", o, err)
		}
		if err := os.RemoveAll(repo); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(repo, 0o700); err != nil {
			t.Fatal(err)
		}
		shell(t, repo, "git init -q --template=; "+commit)
		if gone, err := stored.ObeyedOf(t.Context(), s.deps.Config.Home, "", entry); err != nil || len(gone.Found) > 0 {
			t.Errorf("what is not there any more: %+v, %v", gone, err)
		}
	}
}
