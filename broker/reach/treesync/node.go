package treesync

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// kind is the kind of file at a path.
type kind uint8

// The kinds from special on are not copied. A path that has one of them on either side is left
// alone on both, with all below it.
const (
	nothing kind = iota
	file
	directory
	link
	special    // a device, pipe or socket
	large      // a file above the limit
	unreadable // a file or directory that cannot be read, or a directory with too many names
)

// carried reports whether files of the kind are copied.
func (k kind) carried() bool { return k == file || k == directory || k == link }

// digest is SHA-256 of a file's content or a link's target.
type digest [32]byte

// node describes what is at a path. The zero node means that there is nothing.
type node struct {
	size   int64 // of a file or link; 0 for others
	digest digest
	perm   uint16 // the nine bits of a file or directory
	kind   kind
}

// normalized sets the owner's permissions that every copy on the host gets, so that they make
// no difference when nodes are compared.
func (n node) normalized() node {
	switch n.kind {
	case file:
		n.perm |= 0o600
	case directory:
		n.perm |= 0o700
	default:
		n.perm = 0
	}
	return n
}

func (n node) same(m node) bool { return n.normalized() == m.normalized() }

// sameContent reports whether two nodes differ at most in mode.
func (n node) sameContent(m node) bool {
	n.perm, m.perm = 0, 0
	return n == m
}

// entry is a node and its path.
type entry struct {
	path string
	node
}

// Bounds of a path.
const (
	maxDepth = 64
	maxPath  = 4096
	maxName  = 255
)

// order compares two paths in the order of a walk: a directory, then all below it, then its next
// sibling. So '/' sorts before every other byte.
func order(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	switch {
	case i == n:
		return len(a) - len(b)
	case a[i] == '/':
		return -1
	case b[i] == '/':
		return 1
	}
	return int(a[i]) - int(b[i])
}

func byOrder(e entry, path string) int { return order(e.path, path) }

// has reports whether a sorted list contains a path.
func has(all []entry, path string) bool {
	_, found := slices.BinarySearchFunc(all, path, byOrder)
	return found
}

// below reports whether path is dir or is below it. "" is the tree's root.
func below(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// parent is the directory of a path; "" is the tree's root.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// checkPath returns an error if a path cannot be one of a tree.
func checkPath(path string) error {
	switch {
	case !fs.ValidPath(path) || path == "." || strings.IndexByte(path, 0) >= 0:
		return fmt.Errorf("%.100q is not a path within the tree", path)
	case len(path) > maxPath || strings.Count(path, "/") >= maxDepth:
		return fmt.Errorf("%.100q is too long or too deep", path)
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > maxName {
			return fmt.Errorf("%.100q has a name that is too long", path)
		}
		if temporary(name) {
			return fmt.Errorf("%.100q is the name of a file that is being written", path)
		}
	}
	return nil
}

// checkTree returns an error if a list is not a tree: each path once and in order, and each
// below a directory of the list.
func checkTree(all []entry) error {
	var open []string // the directories above the last entry
	for i := range all {
		e := &all[i]
		if i > 0 && order(all[i-1].path, e.path) >= 0 {
			return errors.New("its list of files is out of order")
		}
		dir := parent(e.path)
		for len(open) > 0 && open[len(open)-1] != dir {
			open = open[:len(open)-1]
		}
		if dir != "" && len(open) == 0 {
			return fmt.Errorf("its list of files has %.100q outside a directory", e.path)
		}
		if e.kind == directory {
			open = append(open, e.path)
		}
	}
	return nil
}

// Files with such names are being written, and are never listed.
const (
	temporaryPrefix = ".ironcurtain-mirror-"
	temporarySuffix = ".part"
)

func temporary(name string) bool {
	return strings.HasPrefix(name, temporaryPrefix) && strings.HasSuffix(name, temporarySuffix)
}
