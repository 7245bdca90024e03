package copies

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// noteHead begins the first line of a note; the hash of the copy's branches follows.
const noteHead = "copy 1 "

// maxLine is the longest line of a note, in bytes: two quoted paths.
const maxLine = 1 << 16

// ErrNotMade means that a session's copy was never completed.
var ErrNotMade = errors.New("the copy was not made")

// note is the state that both sides have in common.
type note struct {
	branches string // the result of branchesOf for the copy
	nodes    map[string]pair
}

// noted is a common node, with the stamp of one side's file.
type noted struct {
	node
	stamp
}

// pair is a common node, with the stamps of both sides' files.
type pair struct {
	node
	origin, copied stamp
}

func (p pair) inOrigin() noted { return noted{p.node, p.origin} }

// get returns the common state of a path.
func (n note) get(name string) pair {
	if p, ok := n.nodes[name]; ok {
		return p
	}
	return pair{node: absent}
}

// set changes the common state of a path, without stamps: the file was written just now, and may
// be again with the same timestamp.
func (n note) set(name string, is node) {
	if is.kind == nothing {
		delete(n.nodes, name)
		return
	}
	n.nodes[name] = pair{node: is}
}

// write replaces the note's file.
func (n note) write(path string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s\n", noteHead, strconv.Quote(n.branches))
	for _, name := range slices.Sorted(maps.Keys(n.nodes)) {
		p := n.nodes[name]
		what := string(p.kind)
		if p.exec {
			what = "x"
		}
		fmt.Fprintf(&b, "%s %d %s %d.%d %d.%d %s", what, p.size, hex.EncodeToString(p.digest[:]),
			p.origin.inode, p.origin.changed, p.copied.inode, p.copied.changed, strconv.Quote(name))
		if p.kind == link {
			b.WriteString(" " + strconv.Quote(p.target))
		}
		b.WriteByte('\n')
	}
	if err := wholefile.Write(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("note the state of the copy: %w", err)
	}
	return nil
}

// readNote reads a note. The error is ErrNotMade when there is none.
func readNote(path string) (note, error) {
	n := note{nodes: map[string]pair{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, ErrNotMade
	}
	if err != nil {
		return n, fmt.Errorf("read the state of the copy: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	at := 1
	for ; lines.Scan(); at++ {
		line, ok := lines.Text(), false
		if at == 1 {
			line, ok = strings.CutPrefix(line, noteHead)
			n.branches, err = strconv.Unquote(line)
			ok = ok && err == nil
		} else {
			ok = n.parse(line)
		}
		if !ok {
			return n, fmt.Errorf("read the state of the copy: line %d of %s is malformed", at, path)
		}
	}
	err = lines.Err()
	if err == nil && at == 1 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return n, fmt.Errorf("read the state of the copy: %w", err)
	}
	return n, nil
}

// parse adds the path of a line, and reports whether the line is well formed.
func (n note) parse(line string) bool {
	words := strings.SplitN(line, " ", 6)
	if len(words) != 6 || len(words[0]) != 1 {
		return false
	}
	p := pair{node: node{kind: kind(words[0][0])}}
	if words[0] == "x" {
		p.kind, p.exec = file, true
	}
	size, err := strconv.ParseInt(words[1], 10, 64)
	digest, errDigest := hex.DecodeString(words[2])
	origin, okOrigin := parseStamp(words[3])
	copied, okCopied := parseStamp(words[4])
	quoted, errName := strconv.QuotedPrefix(words[5])
	if errors.Join(err, errDigest, errName) != nil || len(digest) != len(p.digest) || !okOrigin || !okCopied {
		return false
	}
	p.size, p.digest, p.origin, p.copied = size, [32]byte(digest), origin, copied
	name, err := strconv.Unquote(quoted)
	rest := words[5][len(quoted):]
	if p.kind == link && err == nil {
		p.target, err = strconv.Unquote(strings.TrimPrefix(rest, " "))
		rest = ""
	}
	n.nodes[name] = p
	return err == nil && rest == "" && (p.kind == file || p.kind == directory || p.kind == link)
}

func parseStamp(word string) (stamp, bool) {
	inode, changed, ok := strings.Cut(word, ".")
	i, err := strconv.ParseUint(inode, 10, 64)
	c, errChanged := strconv.ParseInt(changed, 10, 64)
	return stamp{i, c}, ok && err == nil && errChanged == nil
}
