package copies

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// Reasons why a change is not landed although the difference said that it could be.
var (
	errOriginChanged = errors.New("it has just changed in the directory")
	errCopyChanged   = errors.New("it has changed in the copy since the difference was shown")
	errNotEmpty      = errors.New("the directory is not empty")
)

// writer writes into the person's directory. It is used once.
type writer struct {
	ctx      context.Context
	d        *Diff
	from, to *dirs
}

// temporary is the name of a file that is being landed. It is the same in every landing from a
// copy, so that the next one removes what a killed one has left.
func (w *writer) temporary() string {
	return temporary + filepath.Base(filepath.Dir(w.d.note))
}

// unchanged returns an error unless a path is as it was when the difference was made.
func (w *writer) unchanged(in *os.Root, base string, c *Change) error {
	info, err := in.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.origin.kind != nothing {
			return errOriginChanged
		}
		return nil
	case err != nil:
		return err
	}
	is := node{kind: special}
	switch mode := info.Mode(); {
	case mode.IsDir():
		is.kind = directory
	case mode&fs.ModeSymlink != 0:
		is.kind = link
		if is.target, err = in.Readlink(base); err != nil {
			return err
		}
	case mode.IsRegular():
		if is, _, err = lookFile(in, base, noted{c.origin, c.originStamp}); err != nil {
			return err
		}
	}
	if !is.same(c.origin) {
		return errOriginChanged
	}
	return nil
}

// write gives a path of the directory the state that it has in the copy.
func (w *writer) write(c *Change) error {
	in, base, err := w.makeParent(c.Path)
	if err != nil {
		return err
	}
	if err := w.unchanged(in, base, c); err != nil {
		return err
	}
	if (c.origin.kind == directory) != (c.copied.kind == directory) && c.origin.kind != nothing {
		w.to.closeLast() // it may be the directory that is removed now
		if in, base, err = w.to.parent(c.Path); err != nil {
			return err
		}
		if err := in.Remove(base); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			return errNotEmpty
		} else if err != nil {
			return err
		}
		c.origin = absent
	}
	switch c.copied.kind {
	case directory:
		return w.mkdir(in, base)
	case link:
		return w.link(in, base, c)
	default:
		return w.file(in, base, c)
	}
}

// makeParent returns the directory of a path and the path's last name. It makes missing directories.
func (w *writer) makeParent(name string) (*os.Root, string, error) {
	in, base, err := w.to.parent(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return in, base, err
	}
	above, dir, err := w.makeParent(path.Dir(name))
	if err != nil {
		return nil, "", err
	}
	if err := w.mkdir(above, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, "", err
	}
	return w.to.parent(name)
}

func (w *writer) mkdir(in *os.Root, base string) error {
	if err := in.Mkdir(base, 0o777); err != nil { // the person's umask decides
		return err
	}
	return w.own(in, base, nil)
}

// own sets the owner of a new file, if root lands for somebody else: that of the file that it
// replaces, or of its directory.
func (w *writer) own(in *os.Root, base string, former fs.FileInfo) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if former == nil {
		var err error
		if former, err = in.Stat("."); err != nil {
			return err
		}
	}
	owner, ok := former.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return in.Lchown(base, int(owner.Uid), int(owner.Gid))
}

// link lands a link.
func (w *writer) link(in *os.Root, base string, c *Change) error {
	source, name, err := w.from.parent(c.Path)
	if err != nil {
		return errCopyChanged
	}
	if target, err := source.Readlink(name); err != nil || target != c.copied.target {
		return errCopyChanged
	}
	if !inside(w.from.root, c.Path, c.copied.target) || !inside(w.to.root, c.Path, c.copied.target) {
		return errors.New(leadsOut)
	}
	temporary := w.temporary()
	if err := removeLeftover(in, temporary); err != nil {
		return err
	}
	if err := in.Symlink(c.copied.target, temporary); err != nil {
		return err
	}
	err = w.own(in, temporary, nil)
	return w.putInPlace(in, base, c, err)
}

// file lands a file: it writes a temporary one and renames it.
func (w *writer) file(in *os.Root, base string, c *Change) (err error) {
	source, name, err := w.from.parent(c.Path)
	if err != nil {
		return errCopyChanged
	}
	from, info, err := openFile(source, name)
	if err != nil {
		return errCopyChanged
	}
	defer from.Close()
	temporary := w.temporary()
	if err := removeLeftover(in, temporary); err != nil {
		return err
	}
	perm, former := fs.FileMode(0o666), fs.FileInfo(nil)
	if c.origin.kind == file {
		if former, err = in.Lstat(base); err != nil {
			return err
		}
		perm = former.Mode().Perm()
	}
	perm = withExec(perm, c.copied.exec)
	to, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	digest, _, err := sum(bounded.Reader(w.ctx, io.LimitReader(from, c.copied.size+1)), to)
	switch {
	case err != nil:
	case digest != c.copied.digest || executable(info.Mode()) != c.copied.exec:
		err = errCopyChanged
	default:
		err = to.Sync()
	}
	if err == nil && former != nil {
		err = to.Chmod(perm) // whatever the umask is
	}
	err = errors.Join(err, to.Close())
	if err == nil {
		err = w.own(in, temporary, former)
	}
	return w.putInPlace(in, base, c, err)
}

// withExec lets everybody who can read a file execute it, or nobody.
func withExec(perm fs.FileMode, exec bool) fs.FileMode {
	if !exec {
		return perm &^ 0o111
	}
	return perm | perm>>2&0o111
}

// removeLeftover removes the temporary file of a killed landing.
func removeLeftover(in *os.Root, temporary string) error {
	if err := in.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putInPlace renames the temporary file to its path if that is still as it was. If it is not, or
// err is an error, it removes the temporary file.
func (w *writer) putInPlace(in *os.Root, base string, c *Change, err error) error {
	temporary := w.temporary()
	if err == nil {
		err = w.unchanged(in, base, c)
	}
	if err == nil {
		err = in.Rename(temporary, base)
	}
	if err != nil {
		_ = in.Remove(temporary) // the next landing removes it, too
	}
	return err
}
