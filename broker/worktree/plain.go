package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// checkPlain refuses a repository whose objects or references are not all regular files and
// directories. An agent that could write there could make a link to another repository of the
// person's, and would then see the commits of that one. At a pipe, git would block. Files that may
// be missing are checked if they exist.
func checkPlain(ctx context.Context, gitDir, next string) error {
	own, err := os.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer own.Close()
	strange := func(name string) error {
		return refuse(next, "%q is neither a regular file nor a directory", name)
	}
	for _, name := range []string{"HEAD", "packed-refs", "shallow"} {
		info, err := own.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			return strange(filepath.Join(gitDir, name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := own.Lstat(name); err == nil && !info.IsDir() { // the walk would follow a link
			return strange(filepath.Join(gitDir, name))
		}
		err := dirtree.Walk(ctx, filepath.Join(gitDir, name), func(e *dirtree.Entry) error {
			if !e.IsDir() && !e.IsRegular() {
				return strange(e.Name)
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if limit := (*dirtree.Limit)(nil); errors.As(err, &limit) {
			return &fault.Error{Op: "worktree", Err: err, Next: next}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Plain refuses to borrow from a repository in which links were made since the tree was made. It
// accepts a repository that is gone, because there is nothing to borrow.
func (t Tree) Plain(ctx context.Context) error {
	const next = "find out what it is, then remove it"
	resolved, err := filepath.EvalSymlinks(t.Objects())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if resolved != t.Objects() {
		return refuse(next, "%q leads to %q", t.Objects(), resolved)
	}
	return checkPlain(ctx, t.Common, next)
}
