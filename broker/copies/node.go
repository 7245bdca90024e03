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

// node is what is compared of one path.
type node struct {
	kind   kind
	exec   bool // of a file: anybody may execute it
	size   int64
	digest [sha256.Size]byte // of a file
	target string            // of a link
}

// absent is the node of a path where there is nothing.
var absent = node{kind: nothing}

// same reports whether nothing need be copied between two nodes.
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

// stamp changes whenever a file does, so unchanged files need not be read. Zero means unknown.
type stamp struct {
	inode   uint64
	changed int64 // ctime in ns, which no program can set
}

// stampOf returns the stamp of an open file.
func stampOf(f *os.File) stamp {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}
	}
	return stampIn(&st)
}

// racyAge is the coarsest resolution of timestamps. A file that was changed less than this ago
// may change again without a new stamp.
const racyAge = 2 * time.Second

// oldStamp is stampOf for a file that others may be writing: unknown if it has just changed.
func oldStamp(f *os.File) stamp {
	at := stampOf(f)
	if time.Since(time.Unix(0, at.changed)) < racyAge {
		return stamp{}
	}
	return at
}

func stampIn(st *unix.Stat_t) stamp { return stamp{st.Ino, st.Ctim.Nano()} }

// executable reports whether anybody may execute a file of that mode.
func executable(mode fs.FileMode) bool { return mode&0o111 != 0 }

// errReplaced means that a file was replaced while it was opened.
var errReplaced = errors.New("it was replaced meanwhile")

var errNotRegular = errors.New("it is not a regular file")

// sum reads an open file to its end, and returns its digest and size. It also writes it to to,
// if that is not nil.
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
		return nil, nil, errNotRegular
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(is, info)) {
		err = errReplaced
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
