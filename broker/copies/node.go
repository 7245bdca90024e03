package copies

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// kind is what there is at a path.
type kind byte

// The kinds.
const (
	nothing   kind = '-'
	file      kind = 'f'
	directory kind = 'd'
	link      kind = 'l'
	special   kind = 's' // a device, a pipe, a socket
)

// String describes the kind for people.
func (k kind) String() string {
	switch k {
	case file:
		return "a file"
	case directory:
		return "a directory"
	case link:
		return "a link"
	case special:
		return "a device, pipe or socket"
	default:
		return "nothing"
	}
}

// node is the state of one path, as far as it is copied and landed.
type node struct {
	kind   kind
	exec   bool // of a file: somebody may execute it
	size   int64
	digest [sha256.Size]byte // of a file
	target string            // of a link
}

// absent is the node of a path where there is nothing.
var absent = node{kind: nothing}

// same reports whether two nodes need no copying.
func (n node) same(o node) bool {
	switch {
	case n.kind != o.kind:
		return false
	case n.kind == file:
		return n.exec == o.exec && n.digest == o.digest
	case n.kind == link:
		return n.target == o.target
	}
	return n.kind != special
}

// stamp tells states of one file apart without reading it. The zero value is not known.
type stamp struct {
	inode   uint64
	changed int64 // the time of the last change of the inode, which no program can set, in ns
}

// stampOf returns the stamp of an open file.
func stampOf(f *os.File) stamp {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}
	}
	return stampIn(&st)
}

// settled is how long ago a file must have changed last for its stamp to tell the next change, which
// would else have the same time.
const settled = 2 * time.Second

// settledStamp is stampOf for a file that others may be writing: not known if it has just changed.
func settledStamp(f *os.File) stamp {
	at := stampOf(f)
	if time.Since(time.Unix(0, at.changed)) < settled {
		return stamp{}
	}
	return at
}

func stampIn(st *unix.Stat_t) stamp { return stamp{st.Ino, st.Ctim.Nano()} }

// executable reports whether anybody may execute a file of that mode.
func executable(mode fs.FileMode) bool { return mode&0o111 != 0 }

// errMoved means that something was exchanged while it was looked at.
var errMoved = errors.New("it was replaced meanwhile")

// errKind means that a path does not lead to what was expected there.
var errKind = errors.New("it is no regular file")

// sum reads an open file to its end, and returns its digest and size. A copy may be written
// on the way; nil: none.
func sum(f io.Reader, to io.Writer) (digest [sha256.Size]byte, size int64, err error) {
	h := sha256.New()
	all := io.Writer(h)
	if to != nil {
		all = io.MultiWriter(h, to)
	}
	size, err = io.Copy(all, f)
	h.Sum(digest[:0])
	return digest, size, err
}

// openFile opens a regular file of a directory. It follows no link and waits for no pipe.
func openFile(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	is, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !is.Mode().IsRegular() {
		return nil, nil, errKind
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(is, info)) {
		err = errMoved
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
