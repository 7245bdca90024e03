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

// lookTime bounds looking for changes in the files of a tree.
const lookTime = 30 * time.Second

// left describes what would be lost with the tree.
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
		var more something
		in := strings.NewReader(strings.Join(others, "\n") + "\n") // too many for arguments
		if err := keep.pipe(ctx, in, &more, "rev-list", "--max-count=1", "--stdin", "--not", "--branches", "--tags", "--remotes", t.Base, tip); err != nil {
			return "", err
		}
		if more {
			what = append(what, "commits on other branches")
		}
	}
	// A working tree that the agent has made of the repository can hold commits that no
	// reference leads to. Git removes the directory with the last of them.
	if _, err := os.Lstat(filepath.Join(p.Dir, ".git/worktrees")); err == nil {
		what = append(what, "working trees of its own")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.Join(what, " and "), nil
}

// changed describes the files that differ from the commit, or returns "". It has a time
// limit, after which it says that there may be changes.
func (p Place) changed(ctx context.Context, keep git, tip string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found, err := p.count(limited)
	if limited.Err() == nil && err != nil {
		return fmt.Sprintf("files that were not looked through (%v)", err), nil
	}
	if err == nil {
		_, err = keep.run(limited, "read-tree", "--reset", tip)
	}
	var files something
	if err == nil {
		err = keep.pipe(limited, nil, &files, "status", "--porcelain", "--ignore-submodules=all")
	}
	known := 0
	if err == nil && !bool(files) {
		known, err = keep.tracked(limited)
	}
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return fmt.Sprintf("files that were not looked through in %v", lookTime), nil
	case err != nil:
		return "", err
	case bool(files):
		return "changes that are not committed", nil
	case found > known:
		return "files that git ignores or does not see", nil
	}
	return "", nil
}

// something notes whether anything was written to it.
type something bool

func (s *something) Write(p []byte) (int, error) {
	*s = *s || len(p) > 0
	return len(p), nil
}

// errPipe keeps git from waiting.
var errPipe = errors.New("a pipe is among them, on which git would wait")

// count counts the files of the tree, without those of its repository. Where all that is
// in the commit is there and unchanged, what is more is ignored by patterns of the tree's
// own, lies in the place of a submodule or in a .git that is no repository, or has a path
// too long for git.
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

// tracked counts the files of the index. A submodule has none of its own.
func (g git) tracked(ctx context.Context) (int, error) {
	known := 0
	err := g.pipe(ctx, nil, &entries{each: func(entry []byte) {
		if !bytes.HasPrefix(entry, []byte("160000 ")) {
			known++
		}
	}}, "ls-files", "--stage", "-z")
	return known, err
}

// usual are what git and we put into a repository, without the directories of objects.
var usual = []string{
	"HEAD", "FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "branches", "commondir", "config", "description", "hooks",
	"index", "info", "logs", "objects", "packed-refs", "refs", "shallow",
}

// beside says in words what the tree's own repository has that no branch leads to: objects,
// because something was committed, staged or stashed, and what git would not put there.
func (p Place) beside(ctx context.Context) (string, error) {
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
