package treesync

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// disk scans and writes one tree on disk, in either end. It opens the directories of a path one
// by one and compares each with what stat says of its name, so it follows no link, not even one
// to another directory of the tree.
type disk struct {
	scanner
	written func(root *os.Root, path string) error // of Tree and Server
	// look is Lstat. On case-insensitive file systems it also finds other spellings of a name.
	look func(dir *os.Root, name string) (fs.FileInfo, error)
	// The directory that was used last is kept open, because the next path is often in it, too.
	// Removing or renaming a directory opens its parent, so this is never one that is gone.
	dir  *os.Root
	path string
}

// errInTheWay means that something other than a directory stands on the way to a path.
var errInTheWay = errors.New("something else is in the way")

// closeDir closes the directory that was used last.
func (p *disk) closeDir() {
	if p.dir != nil && p.dir != p.root {
		p.dir.Close()
	}
	p.dir = nil
}

// openParent returns the directory of a path, and the path's name in it. The directory is open
// until the next call.
func (p *disk) openParent(path string) (*os.Root, string, error) {
	dir := parent(path)
	name := strings.TrimPrefix(path[len(dir):], "/")
	if p.dir != nil && p.path == dir {
		return p.dir, name, nil
	}
	p.closeDir()
	now := p.root
	if dir != "" {
		for step := range strings.SplitSeq(dir, "/") {
			next, err := p.openSubdir(now, step)
			if now != p.root {
				now.Close()
			}
			if err != nil {
				return nil, "", err
			}
			now = next
		}
	}
	p.dir, p.path = now, dir
	return now, name, nil
}

// openSubdir opens a directory in another one, and makes it accessible to its owner if need be.
func (p *disk) openSubdir(in *os.Root, name string) (*os.Root, error) {
	seen, err := p.look(in, name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, errInTheWay
	}
	name = seen.Name()
	next, err := in.OpenRoot(name)
	if errors.Is(err, fs.ErrPermission) && in.Chmod(name, seen.Mode().Perm()|0o700) == nil {
		next, err = in.OpenRoot(name)
	}
	if err != nil {
		return nil, err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(is, seen) {
		next.Close()
		return nil, errInTheWay
	}
	return next, nil
}

// stat says what stands at a path.
func (p *disk) stat(ctx context.Context, path string) (node, error) {
	dir, name, err := p.openParent(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInTheWay) {
		return node{}, nil
	}
	if err != nil {
		return node{}, err
	}
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return node{}, nil
	}
	if err != nil {
		return node{}, err
	}
	return p.node(ctx, dir, name, info)
}

// removeOtherKind removes what cannot be replaced by a rename: a file or link where a directory
// is to be, and an empty directory where a file or link is.
func (p *disk) removeOtherKind(path string, is, becomes kind) error {
	if is == nothing || becomes == nothing || (is == directory) == (becomes == directory) {
		return nil
	}
	return p.remove(path)
}

// remove removes a file, a link or an empty directory.
func (p *disk) remove(path string) error {
	dir, name, err := p.openParent(path)
	if err == nil {
		err = p.writable(dir, func() error { return dir.Remove(name) })
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInTheWay) {
		err = nil
	}
	return err
}

// notEmpty reports whether removing failed because a directory has something in it.
func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}

// writable calls do, and if that was not permitted makes the directory writable for its owner
// and calls it again.
func (p *disk) writable(dir *os.Root, do func() error) error {
	err := do()
	if errors.Is(err, fs.ErrPermission) {
		if is, statErr := dir.Stat("."); statErr == nil && dir.Chmod(".", is.Mode().Perm()|0o700) == nil {
			err = do()
		}
	}
	return err
}

// mkdir makes a directory, or changes the mode of an existing one.
func (p *disk) mkdir(path string, perm uint16) error {
	dir, name, err := p.openParent(path)
	if err != nil {
		return err
	}
	err = p.writable(dir, func() error { return dir.Mkdir(name, 0o700) })
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := p.chmod(path, directory, perm); err != nil || !made || p.written == nil {
		return err
	}
	return p.written(dir, name)
}

// chmod changes the mode of a file or directory; a link in its place is left alone.
func (p *disk) chmod(path string, is kind, perm uint16) error {
	dir, name, err := p.openParent(path)
	if err != nil {
		return err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() != (is == directory) || info.Mode()&fs.ModeSymlink != 0 {
		return errInTheWay
	}
	return dir.Chmod(name, granted(is, perm))
}

// granted is the mode of a copy. Its owner can always read it, and write into directories.
func granted(is kind, perm uint16) fs.FileMode {
	if is == directory {
		return fs.FileMode(perm&0o777 | 0o700)
	}
	return fs.FileMode(perm&0o777 | 0o400)
}

// symlink makes a link, or replaces a file or link by it.
func (p *disk) symlink(path, target string) error {
	dir, name, err := p.openParent(path)
	if err != nil {
		return err
	}
	temp := temporaryName()
	if err := p.writable(dir, func() error { return dir.Symlink(target, temp) }); err != nil {
		return err
	}
	if p.written != nil {
		err = p.written(dir, temp)
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// temporaryName returns a random name that no scan lists.
func temporaryName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%x%s", temporaryPrefix, random, temporarySuffix)
}

// draft is a temporary file beside the path that it will get. No other path may be opened before
// commit or drop.
type draft struct {
	p          *disk
	dir        *os.Root
	temp, name string
	f          *os.File
	sum        hash.Hash
	size       int64
	began      time.Time
}

func (p *disk) draft(path string) (*draft, error) {
	dir, name, err := p.openParent(path)
	if err != nil {
		return nil, err
	}
	d := &draft{p: p, dir: dir, temp: temporaryName(), name: name, sum: sha256.New(), began: p.digests.now()}
	err = p.writable(dir, func() error {
		d.f, err = dir.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *draft) Write(b []byte) (int, error) {
	d.sum.Write(b)
	n, err := d.f.Write(b)
	d.size += int64(n)
	return n, err
}

func (d *draft) digest() digest { return digest(d.sum.Sum(nil)) }

// commit sets the file's mode and renames it to its path.
func (d *draft) commit(perm uint16) error {
	err := d.f.Chmod(granted(file, perm))
	if err == nil && d.p.written != nil {
		err = d.p.written(d.dir, d.temp)
	}
	if err == nil {
		err = d.dir.Rename(d.temp, d.name)
	}
	if err != nil {
		d.drop()
		return err
	}
	if info, err := d.f.Stat(); err == nil {
		d.p.digests.store(info, d.began, d.digest())
	}
	return d.f.Close()
}

// drop removes the temporary file.
func (d *draft) drop() {
	d.f.Close()
	_ = d.dir.Remove(d.temp)
}
