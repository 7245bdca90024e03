package treesync

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// note stores the state that both sides agreed on last, by path, in memory and in a file of lines
//
//   - kind mode size digest "path"
//   - "path"
//
// to which each change is appended. A later line of a path replaces an earlier one. Reading stops
// at the first broken line, as after a crash. The file is rewritten when more was appended than
// it had before: a container can change the same files for ever.
type note struct {
	agreed map[string]node
	name   string
	f      *os.File // nil: memory only
	w      *bufio.Writer
	whole  int // bytes of the file when it was rewritten
	more   int // bytes that were appended since
}

// slack is how many bytes may always be appended before the file is rewritten.
const slack = 1 << 20

// openNote reads a note and rewrites it without replaced lines. A missing file is an empty note.
func openNote(name string) (*note, error) {
	n := &note{agreed: map[string]node{}, name: name}
	if name == "" {
		return n, nil
	}
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for len(old) > 0 {
		line, rest, whole := bytes.Cut(old, []byte("\n"))
		if !whole || !n.take(string(line)) {
			break
		}
		old = rest
	}
	return n, n.compact()
}

// take applies a line, and reports whether it was well formed.
func (n *note) take(line string) bool {
	if quoted, ok := strings.CutPrefix(line, "- "); ok {
		path, err := strconv.Unquote(quoted)
		delete(n.agreed, path)
		return err == nil
	}
	part := strings.SplitN(line, " ", 6)
	if len(part) != 6 || part[0] != "+" {
		return false
	}
	k, err1 := strconv.ParseUint(part[1], 10, 8)
	perm, err2 := strconv.ParseUint(part[2], 8, 9)
	size, err3 := strconv.ParseInt(part[3], 10, 64)
	sum, err4 := hex.DecodeString(part[4])
	path, err5 := strconv.Unquote(part[5])
	is := node{kind: kind(k), perm: uint16(perm), size: size}
	if errors.Join(err1, err2, err3, err4, err5) != nil || copy(is.digest[:], sum) != len(is.digest) ||
		!is.kind.carried() || checkPath(path) != nil {
		return false
	}
	n.agreed[path] = is
	return true
}

func line(path string, is node) string {
	if is.kind == nothing {
		return "- " + strconv.Quote(path) + "\n"
	}
	return fmt.Sprintf("+ %d %o %d %x %s\n", is.kind, is.perm, is.size, is.digest, strconv.Quote(path))
}

// compact replaces the file by one that has a single line for each path.
func (n *note) compact() error {
	if n.name == "" {
		return nil
	}
	temp := n.name + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w, size := bufio.NewWriterSize(f, 64<<10), 0
	for path, is := range n.agreed {
		written, _ := w.WriteString(line(path, is)) // the error stays, and Flush returns it
		size += written
	}
	if err = w.Flush(); err == nil {
		err = os.Rename(temp, n.name)
	}
	if err != nil {
		f.Close()
		os.Remove(temp)
		return err
	}
	if n.f != nil {
		n.f.Close()
	}
	n.f, n.w, n.whole, n.more = f, w, size, 0
	return nil
}

// agree notes that both sides have this node at a path.
func (n *note) agree(path string, is node) {
	is = is.normalized()
	was, known := n.agreed[path]
	if is.kind == nothing {
		if !known {
			return
		}
		delete(n.agreed, path)
	} else {
		if known && was == is {
			return
		}
		n.agreed[path] = is
	}
	if n.w != nil {
		written, _ := n.w.WriteString(line(path, is)) // the error stays, and flush returns it
		n.more += written
	}
}

// reset notes that nothing is agreed.
func (n *note) reset() error {
	clear(n.agreed)
	return n.compact()
}

// flush writes the buffered lines to the file. After an error the file may end in a broken line,
// so it is rewritten. A path that it lacks is merely compared again by the next process.
func (n *note) flush() error {
	if n.w == nil {
		return nil
	}
	err := n.w.Flush()
	if err == nil && n.more <= n.whole+slack {
		return nil
	}
	if n.compact() != nil && err != nil {
		return fmt.Errorf("note what was copied: %w", err)
	}
	return nil
}

func (n *note) close() error {
	if n.f == nil {
		return nil
	}
	return errors.Join(n.flush(), n.f.Close())
}
