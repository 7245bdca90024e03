// Package demo lays out the ground on which the demo plays: a workspace that
// is a small git repository, a directory outside of it that tools may reach only
// after a person said so, and a git server of this machine's own to push to.
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
)

// Playground is where the demo's directories are.
type Playground struct {
	Workspace string // what the demo's tabs work in
	Outside   string // beyond it; every call for it waits for a person
	Notes     string // a file in Outside
	Remotes   string // the repositories that the workspace's remotes are
}

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
	g := Playground{
		Workspace: filepath.Join(base, "workspace"),
		Outside:   filepath.Join(base, "outside"),
		Remotes:   filepath.Join(base, "remotes"),
	}
	g.Notes = filepath.Join(g.Outside, "notes.txt")
	return g
}

// Prepare makes what is missing below home and leaves the rest as it is.
func Prepare(ctx context.Context, home string) (Playground, error) {
	g := At(home)
	for _, dir := range []string{g.Workspace, g.Outside, g.Remotes} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Playground{}, err
		}
	}
	if err := writeNew(g.Notes, notes); err != nil {
		return Playground{}, err
	}
	fresh := filepath.Join(g.Workspace, ".git")
	if _, err := os.Lstat(fresh); err == nil {
		return g, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Playground{}, err
	}
	if err := writeNew(filepath.Join(g.Workspace, "hello.txt"), hello); err != nil {
		return Playground{}, err
	}
	return g, makeRepository(ctx, g.Workspace)
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

// makeRepository turns a directory that no agent has seen yet into a git
// repository with one commit and two remotes, of which Serve tells the address. It
// reads no configuration but its own.
func makeRepository(ctx context.Context, dir string) error {
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "hello.txt"},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "commit", "--quiet", "-m", "Begin"},
		{"remote", "add", "origin", "http://127.0.0.1:0/hello.git"},
		{"config", "branch.main.remote", "origin"},
		{"config", "branch.main.merge", "refs/heads/main"},
		{"remote", "add", "backup", "http://127.0.0.1:0/backup.git"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		cmd.Env = gitEnvironment(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
