package dirtree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxOpen is how many nested directories are open at once. People hardly ever make deeper
// trees.
const maxOpen = 32

// batch is how many names of a directory are read at a time.
const batch = 1024

// Remove removes the file or directory at the path with everything below it, including
// directories that their owner may not read. A path that does not exist is no error. No
// agent must be able to replace the directory that contains the path.
func Remove(ctx context.Context, name string) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return RemoveIn(ctx, root, filepath.Base(name))
}

// RemoveIn is Remove for a path below root.
func RemoveIn(ctx context.Context, root *os.Root, name string) error {
	err := root.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if top, entered := enter(root, name); entered == nil {
		err = (&removal{ctx: ctx, top: top}).clear()
		_ = top.Close()
		if err == nil {
			err = root.Remove(name)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", Short(filepath.Join(root.Name(), name)), fault.WithoutPath(err))
	}
	return nil
}

// removal empties a directory.
type removal struct {
	ctx   context.Context
	top   *os.Root
	moved int   // how many directories were moved to top
	gone  int   // how many entries were removed or moved in this pass
	err   error // the first failure of this pass
}

// clear empties top. It moves directories deeper than maxOpen up to top, and removes them in the
// next pass. It gives up after a pass that removes nothing.
func (r *removal) clear() error {
	for {
		r.gone, r.err = 0, nil
		empty, err := r.empty(r.top, ".", 0)
		if err != nil || empty {
			return err
		}
		if r.gone == 0 {
			return r.err
		}
	}
}

// empty removes the entries of a directory at the given depth below top, and reports
// whether the directory is empty then. It fails only when ctx ends.
func (r *removal) empty(dir *os.Root, at string, depth int) (bool, error) {
	f, err := dir.Open(".")
	if err != nil {
		r.complain(err)
		return false, nil
	}
	defer f.Close()
	empty := true
	for {
		names, err := f.Readdirnames(batch)
		for _, name := range names {
			empty = false
			if err := r.drop(dir, at, name, depth); err != nil {
				return false, err
			}
		}
		if errors.Is(err, io.EOF) {
			return empty, nil
		}
		if err != nil {
			r.complain(err)
			return false, nil
		}
	}
}

// drop removes one entry of a directory, with its contents.
func (r *removal) drop(dir *os.Root, at, name string, depth int) error {
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	first := dir.Remove(name)
	if first == nil {
		r.gone++
		return nil
	}
	sub, err := enter(dir, name)
	if err != nil {
		r.complain(first)
		return nil
	}
	defer sub.Close()
	if depth == maxOpen {
		r.moveUp(path.Join(at, name))
		return nil
	}
	if _, err := r.empty(sub, path.Join(at, name), depth+1); err != nil {
		return err
	}
	if dir.Remove(name) == nil {
		r.gone++
	}
	return nil
}

// moveUp moves a directory into top, under a name that is free there.
func (r *removal) moveUp(name string) {
	for {
		err := r.top.Rename(name, strconv.Itoa(r.moved))
		r.moved++
		switch {
		case err == nil:
			r.gone++
			return
		case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTDIR):
		default:
			r.complain(err)
			return
		}
	}
}

// complain keeps the first error of a pass.
func (r *removal) complain(err error) {
	if r.err == nil && !errors.Is(err, fs.ErrNotExist) {
		r.err = fault.WithoutPath(err)
	}
}

// enter opens a directory, and never a link, after it has made the directory readable to
// its owner.
func enter(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, unix.ENOTDIR
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		_ = dir.Chmod(name, 0o700) // if that fails, opening reports it
	}
	return dir.OpenRoot(name)
}
