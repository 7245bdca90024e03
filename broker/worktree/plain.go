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

// plain refuses a repository in which the objects or references are not all files and
// directories of its own. Through a link an agent that could write there would name
// another repository of the person's, whose commits it would then be shown, now or in
// its next life; on a pipe git would wait for ever. What may be missing is looked at
// where it is there.
func plain(ctx context.Context, gitDir, next string) error {
	own, err := os.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer own.Close()
	strange := func(name string) error {
		return refuse(next, "%q is neither a file nor a directory of its own", name)
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
		if info, err := own.Lstat(name); err == nil && !info.IsDir() { // the walk would begin behind a link
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

// Plain refuses to borrow from a repository that has been made to lead elsewhere since
// the tree was made. One that is gone lends nothing.
func (t Tree) Plain(ctx context.Context) error {
	const next = "look where it leads, then remove it"
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
	return plain(ctx, t.Common, next)
}
