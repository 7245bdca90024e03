// Package archive reads untrusted archives: it lists their entries and reads some of them, within
// bounds. It writes nothing to disk.
//
// The programs that install a package have archive readers of their own. So an archive is refused
// if two of them could find different files in it: because of repeated names, bytes between the
// entries of a zip file, or a second stream after the first.
package archive

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The bounds of an archive.
const (
	MaxDecoded = 64 << 20 // bytes that are decompressed
	MaxEntries = 20_000
	MaxName    = 4096 // bytes of a name, the limit of a path in file systems
)

// ErrLimit means that an archive is larger than the bounds.
var ErrLimit = errors.New("the archive is too large to be inspected")

// Entry is a file, a directory or a link in an archive.
type Entry struct {
	Name string // with slashes, relative, clean, without a final slash
	Dir  bool
	Link bool // symbolic or hard; it has no content
	// Extended means that the entry has pax records, which tar readers interpret differently.
	Extended bool
}

// clean returns an entry's name without the slash that marks a directory. It refuses names that
// lead out of the target directory, or that readers spell differently.
func clean(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if name == "" || name == "." {
		return "", nil
	}
	if len(name) > MaxName {
		return "", errors.New("the archive has a name that is too long for a file system")
	}
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") {
		return "", errors.New("the archive has a name that is not plain text")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return "", errors.New("the archive has a name that leads out of it")
		}
	}
	return name, nil
}

// bounded reads at most left bytes, then fails with ErrLimit.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := io.ReadFull(b.r, one[:]); n == 0 {
			return 0, err
		}
		return 0, ErrLimit
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// ReadAll reads the content of an entry. It fails if there are more than most bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("a file in the archive has more than %d bytes", most)
	}
	return data, err
}
