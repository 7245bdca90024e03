package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Save copies a file to the absolute path dest or, if that is a directory, into it, and returns the
// path of the copy. The copy is private and not executable. judge gets the path without links, and
// returns an error if the person's policy forbids writing it. An existing file is replaced only if
// replace is set.
func Save(ctx context.Context, from *os.File, dest string, replace bool, judge func(path string) error) (string, error) {
	if info, err := os.Stat(dest); err == nil && info.IsDir() {
		dest = filepath.Join(dest, filepath.Base(from.Name()))
	}
	where, err := filepath.EvalSymlinks(filepath.Dir(dest))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New("make it first", "the directory %s does not exist", dirtree.Short(filepath.Dir(dest)))
	}
	if err != nil {
		return "", fmt.Errorf("write to %s: %w", dirtree.Short(dest), err)
	}
	name := filepath.Base(dest)
	path := filepath.Join(where, name)
	if err := judge(path); err != nil {
		return "", err
	}
	dir, err := openJudged(where)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	switch info, err := dir.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fault.New("name another file", "%s exists, and is not a regular file", path)
	case !replace:
		return "", fault.New("/save -f replaces it", "%s exists", path)
	}
	if err := write(ctx, dir, name, from, replace); err != nil {
		return "", fault.Wrap("write "+dirtree.Short(path), err, "")
	}
	return path, nil
}

// openJudged opens a directory whose path was judged. An agent that can write to a part of
// the path may have put a link there in between.
func openJudged(path string) (*os.Root, error) {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	device, inode, err := dirtree.Identify(path)
	info, statErr := dir.Stat(".")
	if err = errors.Join(err, statErr); err == nil {
		is, known := info.Sys().(*syscall.Stat_t)
		if inode != 0 && (!known || uint64(is.Dev) != device || is.Ino != inode) { //nolint:unconvert // its type differs between systems
			err = fmt.Errorf("%s was replaced just now", path)
		}
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// write writes the file completely, or not at all.
func write(ctx context.Context, dir *os.Root, name string, from io.Reader, replace bool) error {
	temporary := ".saving-" + rand.Text()
	to, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Remove(temporary) }()
	n, err := io.Copy(to, io.LimitReader(bounded.Reader(ctx, from), maxSave+1))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if n > maxSave {
		return fmt.Errorf("the file is larger than %d MiB", maxSave>>20)
	}
	if replace {
		return dir.Rename(temporary, name)
	}
	return dir.Link(temporary, name) // unlike Rename, Link replaces nothing
}
