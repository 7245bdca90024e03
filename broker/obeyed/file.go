package obeyed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// file notes a file with the digest of its present state.
func (l *looker) file(name string, f File) {
	f.Digest = l.digest(name)
	l.note(name, f)
}

// note adds a finding. A finding about git stays, because a hook of git's may also be in a directory
// that counts for another reason.
func (l *looker) note(name string, f File) {
	before, ok := l.look.Files[name]
	if ok && (before.git || !f.git) {
		return
	}
	if l.names += len(name); len(l.look.Files) >= l.most.files || l.names > l.most.names {
		l.stop("there are too many such files to list")
		return
	}
	l.look.Files[name] = f
}

// digest identifies the state of a file. For a link it includes the target. It is "" for a file that
// cannot be read.
func (l *looker) digest(name string) string {
	h := sha256.New()
	info, err := l.root.Lstat(name)
	if err != nil {
		return ""
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := l.root.Readlink(name)
		if err != nil {
			return ""
		}
		fmt.Fprintf(h, "link %q\n", target)
		if info, err = l.root.Stat(name); err != nil || info.IsDir() {
			return hex.EncodeToString(h.Sum(nil)) // a directory, or nothing in the workspace
		}
	}
	if !info.Mode().IsRegular() {
		fmt.Fprintf(h, "%v\n", info.Mode().Type())
		return hex.EncodeToString(h.Sum(nil))
	}
	fmt.Fprintf(h, "file %v\n", info.Mode()&0o111 != 0)
	if !l.copy(h, name) {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// copy copies the content of a regular file, and never blocks. It returns false if it cannot, or if
// the file exceeds the bytes that are left to the look.
func (l *looker) copy(to io.Writer, name string) bool {
	f, err := l.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !l.mayContinue() {
		return false
	}
	left := l.most.bytes - l.bytes
	n, err := io.Copy(to, io.LimitReader(f, left+1))
	l.bytes += min(n, left)
	return err == nil && n <= left
}

// read returns the content of a small file, or nil if there is no file. ok is false for a file that
// cannot be read.
func (l *looker) read(name string) (data []byte, ok bool) {
	info, err := l.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, true
	}
	if err != nil || info.Size() > maxText {
		return nil, false
	}
	var b strings.Builder
	ok = l.copy(&b, name)
	return []byte(b.String()), ok && b.Len() <= maxText
}

// maxText is the size of the largest file whose content is examined, in bytes.
const maxText = 1 << 20
