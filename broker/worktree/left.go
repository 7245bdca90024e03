package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// lookTime bounds the search for changes in the files of a tree.
const lookTime = 30 * time.Second

// left describes the work that would be lost with the tree.
func (p Place) left(ctx context.Context, t Tree, tip string, others []string) (string, error) {
	keep := p.keep(t)
	if _, err := keep.run(ctx, "update-ref", "--no-deref", "HEAD", tip); err != nil {
		return "", err
	}
	var what []string
	changed, err := p.changed(ctx, keep, tip)
	if err != nil {
		return "", err
	}
	if changed != "" {
		what = append(what, changed)
	}
	if len(others) > 0 {
		var more anyOutput
		in := strings.NewReader(strings.Join(others, "\n") + "\n") // they may be too many for arguments
		if err := keep.pipe(ctx, in, &more, "rev-list", "--max-count=1", "--stdin", "--not", "--branches", "--tags", "--remotes", t.Base, tip); err != nil {
			return "", err
		}
		if more {
			what = append(what, "commits on other branches")
		}
	}
	// A linked worktree that the agent has made can have commits that no reference leads to. Git
	// removes the directory with the last linked worktree.
	if _, err := os.Lstat(filepath.Join(p.Dir, ".git/worktrees")); err == nil {
		what = append(what, "working trees of its own")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.Join(what, " and "), nil
}

// changed describes the files that differ from the commit, or returns "". If it reaches its time
// limit, it says that there may be changes.
func (p Place) changed(ctx context.Context, keep git, tip string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found, err := p.count(limited)
	if limited.Err() == nil && err != nil {
		return fmt.Sprintf("files that were not examined (%v)", err), nil
	}
	if err == nil {
		_, err = keep.run(limited, "read-tree", "--reset", tip)
	}
	var files anyOutput
	if err == nil {
		err = keep.pipe(limited, nil, &files, "status", "--porcelain", "--ignore-submodules=all")
	}
	known := 0
	if err == nil && !bool(files) {
		known, err = keep.tracked(limited)
	}
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return fmt.Sprintf("files that were not examined within %v", lookTime), nil
	case err != nil:
		return "", err
	case bool(files):
		return "changes that are not committed", nil
	case found > known:
		return "files that git ignores or does not see", nil
	}
	return "", nil
}

// anyOutput reports whether anything was written to it.
type anyOutput bool

func (a *anyOutput) Write(p []byte) (int, error) {
	*a = *a || len(p) > 0
	return len(p), nil
}

// errPipe prevents git from being run on a tree in which it would block.
var errPipe = errors.New("one is a pipe, at which git would block")

// count counts the files of the tree, without those of its repository. If git finds no change, but
// there are more files than in the commit, then the others are ignored by patterns in the tree, are
// in the place of a submodule or in a .git that is not a repository, or have paths that are too long
// for git.
func (p Place) count(ctx context.Context) (int, error) {
	found := 0
	err := dirtree.Walk(ctx, p.Dir, func(e *dirtree.Entry) error {
		switch {
		case e.Depth == 1 && e.Name == ".git":
			return fs.SkipDir
		case e.Stat.Mode&unix.S_IFMT == unix.S_IFIFO:
			return errPipe
		case !e.IsDir():
			found++
		}
		return nil
	})
	return found, err
}

// tracked counts the files of the index, without submodules.
func (g git) tracked(ctx context.Context) (int, error) {
	known := 0
	err := g.pipe(ctx, nil, &entries{each: func(entry []byte) {
		if !bytes.HasPrefix(entry, []byte("160000 ")) {
			known++
		}
	}}, "ls-files", "--stage", "-z")
	return known, err
}

// usual are the entries that git and we make in a repository.
var usual = []string{
	"HEAD", "FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "branches", "commondir", "config", "description", "hooks",
	"index", "info", "logs", "objects", "packed-refs", "refs", "shallow",
}

// unreferenced describes what the tree's own repository has in addition to its branches: objects,
// because something was committed, staged or stashed, and files that git does not make. It returns ""
// if there is nothing.
func (p Place) unreferenced(ctx context.Context) (string, error) {
	what := ""
	err := dirtree.Walk(ctx, filepath.Join(p.Dir, ".git"), func(e *dirtree.Entry) error {
		if e.Depth == 1 && !slices.Contains(usual, e.Name) {
			what = "files of its own in .git"
			return fs.SkipAll
		}
		return fs.SkipDir
	})
	if err != nil || what != "" {
		return what, err
	}
	err = dirtree.Walk(ctx, filepath.Join(p.Dir, ".git/objects"), func(e *dirtree.Entry) error {
		switch {
		case e.Depth == 1 && e.Name == "info":
			return fs.SkipDir
		case !e.IsDir():
			what = "objects that no branch leads to"
			return fs.SkipAll
		}
		return nil
	})
	return what, err
}
