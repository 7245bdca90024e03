package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Bounds of what one call may create.
const (
	maxEntries = 500_000
	maxBytes   = 4 << 30
)

// copyFile copies a regular file from one directory to another, where it must not exist.
// It fails if the file is not the given one. Permissions and the time of change stay.
func copyFile(ctx context.Context, from *os.Root, name string, to *os.Root, as string, is os.FileInfo) error {
	in, err := from.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return cause(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return cause(err)
	}
	if !info.Mode().IsRegular() || !os.SameFile(info, is) {
		return errChanged
	}
	out, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	_, err = io.Copy(out, io.LimitReader(cancelled{ctx, in}, info.Size()))
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = to.Chtimes(as, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return errors.Join(cause(err), to.Remove(as))
	}
	return nil
}

// cancelled is a reader that ends with a context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// tree copies directories. It counts, because servers can create any number of files.
type tree struct {
	ctx      context.Context
	from, to *os.Root
	entries  int
	bytes    int64
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
		return fmt.Errorf("it has more than %d files or %d GiB", maxEntries, maxBytes>>30)
	}
	switch {
	case info.Mode().IsRegular():
		return copyFile(t.ctx, t.from, name, t.to, as, info)
	case info.Mode()&os.ModeSymlink != 0:
		target, err := t.from.Readlink(name)
		if err != nil {
			return err
		}
		return t.to.Symlink(target, as)
	case info.IsDir():
		if err := t.to.Mkdir(as, 0o700); err != nil {
			return err
		}
		if err := t.below(name, as); err != nil {
			return err
		}
		return t.to.Chmod(as, info.Mode().Perm())
	}
	return fmt.Errorf("%s is %s", name, kind(info.Mode()))
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
