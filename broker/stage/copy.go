package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Limits of what one call may create.
const (
	maxEntries = 500_000
	maxBytes   = 4 << 30
)

var errTooMuch = fmt.Errorf("it has more than %d files or %d GiB", maxEntries, maxBytes>>30)

// copyFile copies a regular file, with its modification time, from one directory to another, where
// it must not exist. It fails if the file is not the one that is describes.
func copyFile(ctx context.Context, from *os.Root, name string, to *os.Root, as string, is os.FileInfo, perm os.FileMode) error {
	in, err := from.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return fault.WithoutPath(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fault.WithoutPath(err)
	}
	if !info.Mode().IsRegular() || !os.SameFile(info, is) {
		return errChanged
	}
	out, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.WithoutPath(err)
	}
	_, err = io.Copy(out, io.LimitReader(bounded.Reader(ctx, in), info.Size()))
	if err == nil {
		err = out.Chmod(perm)
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = to.Chtimes(as, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return errors.Join(fault.WithoutPath(err), to.Remove(as))
	}
	return nil
}

// tree copies directories, with limits, because servers can create any number of files.
type tree struct {
	ctx      context.Context
	from, to *os.Root
	owners   bool // keep the owners of files
	entries  int
	bytes    int64
	made     bool // a directory was made, which must be removed if the copy fails
}

// whole copies an entry with everything below it to a name that must not exist. If that fails, it
// removes only what it has made itself.
func (t *tree) whole(name, as string) error {
	err := t.copy(name, as)
	if err != nil && t.made {
		err = errors.Join(err, dirtree.RemoveIn(context.WithoutCancel(t.ctx), t.to, as))
	}
	return err
}

// copy copies an entry of the stage with everything below it.
func (t *tree) copy(name, as string) error {
	info, err := t.from.Lstat(name)
	if err != nil {
		return err
	}
	t.entries++
	t.bytes += info.Size()
	if t.entries > maxEntries || t.bytes > maxBytes {
		return errTooMuch
	}
	switch {
	case info.Mode().IsRegular():
		err = copyFile(t.ctx, t.from, name, t.to, as, info, info.Mode().Perm())
	case info.Mode()&os.ModeSymlink != 0:
		var target string
		if target, err = t.from.Readlink(name); err == nil {
			err = t.to.Symlink(target, as)
		}
	case info.IsDir():
		if err = t.to.Mkdir(as, 0o700); err != nil {
			return err
		}
		t.made = true
		if err = t.below(name, as); err == nil {
			err = t.to.Chmod(as, info.Mode().Perm())
		}
	default:
		return fmt.Errorf("%s is %s", name, kind(info.Mode()))
	}
	if err == nil && t.owners {
		err = keepOwner(t.to, as, info)
	}
	return err
}

func (t *tree) below(name, as string) error {
	dir, err := t.from.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1024)
		for _, n := range names {
			if err := t.copy(path.Join(name, n), path.Join(as, n)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
