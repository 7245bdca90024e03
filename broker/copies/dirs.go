package copies

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// errNoDir means that a part of the path is not a directory.
var errNoDir = errors.New("what should contain it is not a directory")

// dirs opens directories below a root by their paths, one name at a time, and follows no link.
// It keeps the last one open, because the next path is usually in it, too.
type dirs struct {
	root *os.Root
	name string
	last *os.Root // nil: none
}

// openDirs opens a directory as the root of dirs.
func openDirs(dir string) (*dirs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &dirs{root: root}, nil
}

// openOrigin is openDirs for a person's directory, by its real path. It fails if any part of that
// is a link now: an agent that works in a directory above may have put it there.
func openOrigin(dir string) (*dirs, error) {
	root, err := dirtree.OpenRoot(dir)
	if errors.Is(err, dirtree.ErrLink) {
		return nil, fault.New("find out who put the link there", "%s leads elsewhere now, through a link", quoted(dir))
	}
	if err != nil {
		return nil, err
	}
	return &dirs{root: root}, nil
}

// close closes the root and the last directory.
func (d *dirs) close() {
	d.closeLast()
	_ = d.root.Close()
}

// closeLast closes the last directory. It must be called before that may be removed.
func (d *dirs) closeLast() {
	if d.last != nil {
		_ = d.last.Close()
	}
	d.last = nil
}

// parent returns the directory of a path, and the path's last name. The directory is open until
// the next call. The error is errNoDir if a part of the path is not a directory, and
// fs.ErrNotExist if one is missing.
func (d *dirs) parent(name string) (*os.Root, string, error) {
	dir, base := path.Dir(name), path.Base(name)
	if d.last != nil && d.name == dir {
		return d.last, base, nil
	}
	d.closeLast()
	at, err := below(d.root, dir)
	if err != nil {
		return nil, "", err
	}
	d.name, d.last = dir, at
	return at, base, nil
}

// below opens a directory below another one.
func below(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	for part := range strings.SplitSeq(dir, "/") {
		next, err := openSubdir(at, part)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens a subdirectory, which must not be a link.
func openSubdir(in *os.Root, name string) (*os.Root, error) {
	is, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !is.IsDir() {
		return nil, errNoDir
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil && !os.SameFile(is, info) {
		err = errReplaced
	}
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}

// look returns what is at a path, and the stamp of a file. It does not read a file whose stamp
// and size are those of known. If a part of the path is not a directory, there is nothing.
func (d *dirs) look(name string, known noted) (node, stamp, error) {
	in, base, err := d.parent(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDir) {
		return absent, stamp{}, nil
	}
	if err != nil {
		return absent, stamp{}, err
	}
	info, err := in.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, stamp{}, nil
	}
	if err != nil {
		return absent, stamp{}, err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return node{kind: directory}, stamp{}, nil
	case mode&fs.ModeSymlink != 0:
		target, err := in.Readlink(base)
		return node{kind: link, target: target}, stamp{}, err
	case !mode.IsRegular():
		return node{kind: special}, stamp{}, nil
	}
	return lookFile(in, base, known)
}

// small reads at most so many bytes of a file. found is false if there is no readable file.
func (d *dirs) small(name string, most int64) (data []byte, found bool, err error) {
	in, base, err := d.parent(name)
	if err == nil {
		var f *os.File
		if f, _, err = openFile(in, base); err == nil {
			defer f.Close()
			data, err = io.ReadAll(io.LimitReader(f, most))
			return data, err == nil, err
		}
	}
	for _, missing := range []error{fs.ErrNotExist, fs.ErrPermission, errNoDir, errNotRegular, errReplaced} {
		if errors.Is(err, missing) {
			return nil, false, nil
		}
	}
	return nil, false, err
}

// lookFile is look for a regular file.
func lookFile(in *os.Root, base string, known noted) (node, stamp, error) {
	f, info, err := openFile(in, base)
	if err != nil {
		return absent, stamp{}, err
	}
	defer f.Close()
	at := oldStamp(f)
	n := node{kind: file, exec: executable(info.Mode()), size: info.Size()}
	if at == known.stamp && at != (stamp{}) && known.kind == file && known.size == n.size {
		n.digest = known.digest
		return n, at, nil
	}
	if n.digest, n.size, err = sum(f, nil); err != nil {
		return absent, stamp{}, fmt.Errorf("read: %w", err)
	}
	return n, at, nil
}
