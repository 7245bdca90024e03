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
)

// Reasons why something is left although it could be landed when the difference was made.
var (
	errChangedThere = errors.New("it has just changed in the directory")
	errChangedHere  = errors.New("it has changed in the copy since the difference was shown")
	errMore         = errors.New("the directory has more in it")
)

// writer writes into the person's directory. It is used once.
type writer struct {
	ctx      context.Context
	d        *Diff
	from, to *dirs
}

// temporary is the name of a file that is being landed, the same in each landing from a copy:
// what a killed one has left is removed by the next one.
func (w *writer) temporary() string {
	return temporary + filepath.Base(filepath.Dir(w.d.note))
}

// unchanged returns an error unless a path is as it was when the difference was made.
func (w *writer) unchanged(in *os.Root, base string, c *Change) error {
	info, err := in.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.there.kind != nothing {
			return errChangedThere
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
		if is, _, err = lookFile(in, base, noted{c.there, c.at}); err != nil {
			return err
		}
	}
	if !is.same(c.there) {
		return errChangedThere
	}
	return nil
}

// write makes a path what it is in the copy.
func (w *writer) write(c *Change) error {
	in, base, err := w.place(c.Path)
	if err != nil {
		return err
	}
	if err := w.unchanged(in, base, c); err != nil {
		return err
	}
	if (c.there.kind == directory) != (c.here.kind == directory) && c.there.kind != nothing {
		w.to.forget() // it may be the directory that is removed
		if in, base, err = w.to.of(c.Path); err != nil {
			return err
		}
		if err := in.Remove(base); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			return errMore
		} else if err != nil {
			return err
		}
		c.there = absent
	}
	switch c.here.kind {
	case directory:
		return w.mkdir(in, base)
	case link:
		return w.link(in, base, c)
	default:
		return w.file(in, base, c)
	}
}

// place returns the directory that a path is to be in, which is made where it is missing.
func (w *writer) place(name string) (*os.Root, string, error) {
	in, base, err := w.to.of(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return in, base, err
	}
	above, dir, err := w.place(path.Dir(name))
	if err != nil {
		return nil, "", err
	}
	if err := w.mkdir(above, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, "", err
	}
	return w.to.of(name)
}

func (w *writer) mkdir(in *os.Root, base string) error {
	if err := in.Mkdir(base, 0o777); err != nil { // the person's umask decides
		return err
	}
	return w.own(in, base, nil)
}

// own gives something new to whom the former one belonged or, if there was none, the directory
// that it is in: root may land for somebody else.
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
	source, name, err := w.from.of(c.Path)
	if err != nil {
		return errChangedHere
	}
	if target, err := source.Readlink(name); err != nil || target != c.here.target {
		return errChangedHere
	}
	if !inside(w.from.root, c.Path, c.here.target) || !inside(w.to.root, c.Path, c.here.target) {
		return errors.New(leadsOut)
	}
	temporary := w.temporary()
	if err := fresh(in, temporary); err != nil {
		return err
	}
	if err := in.Symlink(c.here.target, temporary); err != nil {
		return err
	}
	err = w.own(in, temporary, nil)
	return w.putInPlace(in, base, c, err)
}

// file lands a file: its content is written beside it first, and then takes its place.
func (w *writer) file(in *os.Root, base string, c *Change) (err error) {
	source, name, err := w.from.of(c.Path)
	if err != nil {
		return errChangedHere
	}
	from, info, err := openFile(source, name)
	if err != nil {
		return errChangedHere
	}
	defer from.Close()
	temporary := w.temporary()
	if err := fresh(in, temporary); err != nil {
		return err
	}
	perm, former := fs.FileMode(0o666), fs.FileInfo(nil)
	if c.there.kind == file {
		if former, err = in.Lstat(base); err != nil {
			return err
		}
		perm = former.Mode().Perm()
	}
	perm = withExec(perm, c.here.exec)
	to, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	digest, _, err := sum(&stopping{w.ctx, io.LimitReader(from, c.here.size+1)}, to)
	switch {
	case err != nil:
	case digest != c.here.digest || executable(info.Mode()) != c.here.exec:
		err = errChangedHere
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

// withExec lets those execute a file who can read it, or nobody.
func withExec(perm fs.FileMode, exec bool) fs.FileMode {
	if !exec {
		return perm &^ 0o111
	}
	return perm | perm>>2&0o111
}

// fresh removes what a killed landing has left.
func fresh(in *os.Root, temporary string) error {
	if err := in.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putInPlace gives what was written its name, if the path is still as it was. After an error it
// removes what was written.
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
