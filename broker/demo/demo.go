// Package demo makes what the demo works with: in each session's workspace a small git repository,
// a directory outside of them that tools may use only with a person's approval, and a git server on
// this machine to push to.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Playground is where the directories are that all sessions of the demo share.
type Playground struct {
	Outside string // beyond the workspaces; every call for it waits for a person
	Notes   string // a file in Outside
	Remotes string // the repositories that the workspaces' remotes are
}

// Hello is the file that each session's workspace has.
const Hello = "hello.txt"

const (
	hello = `Hello from the workspace.

This file may be read and written freely: it is in the directory that was given
to the agent.
`
	notes = `These notes are outside the workspace.

Whoever reads or changes them through a tool needs a person's approval.
`
)

// At returns where the directories below home are, or will be.
func At(home string) Playground {
	base := filepath.Join(home, "demo")
	outside := filepath.Join(base, "outside")
	return Playground{Outside: outside, Notes: filepath.Join(outside, "notes.txt"), Remotes: filepath.Join(base, "remotes")}
}

// Prepare makes what is missing below home and leaves the rest as it is.
func Prepare(home string) (Playground, error) {
	g := At(home)
	err := errors.Join(os.MkdirAll(g.Outside, 0o700), os.MkdirAll(g.Remotes, 0o700))
	if err == nil {
		err = writeNew(g.Notes, notes)
	}
	return g, fault.Wrap("make the demo's directories", err, writable(filepath.Dir(g.Outside)))
}

// writable is the next step when a file of the demo cannot be made.
func writable(dir string) string {
	return "see that " + dir + " is writable and its disk has room, or set IRONCURTAIN_HOME"
}

// writeNew writes a file that does not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Furnish fills the workspace of a session that begins: an empty directory, which no agent has seen
// yet, becomes a git repository with one commit and two remotes. It reads no configuration but its
// own. All sessions begin with the same commit, so that each can push.
func (r *Remote) Furnish(ctx context.Context, dir string) error {
	file := filepath.Join(dir, Hello)
	if err := writeNew(file, hello); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, began)
	if err == nil {
		err = os.Chtimes(file, at, at) // the file must not look changed since the session began
	}
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", Hello},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "commit", "--quiet", "-m", "Begin"},
		{"remote", "add", "origin", r.url("hello.git")},
		{"config", "branch.main.remote", "origin"},
		{"config", "branch.main.merge", "refs/heads/main"},
		{"remote", "add", "backup", r.url("backup.git")},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(gitEnvironment(dir), "GIT_AUTHOR_DATE="+began, "GIT_COMMITTER_DATE="+began)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// began is the date of the first commit.
const began = "2026-01-01T00:00:00Z"
