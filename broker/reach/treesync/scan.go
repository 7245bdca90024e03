package treesync

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// manifest lists one end's tree.
type manifest struct {
	all     []entry
	cut     bool // the tree has more entries than the limit; all has the first ones
	dropped int  // special files, files whose names cannot be copied, and setuid, setgid and sticky bits
}

// special counts the devices, pipes and sockets.
func (m *manifest) special() (n int) {
	for i := range m.all {
		if m.all[i].kind == special {
			n++
		}
	}
	return n
}

// scanner reads a tree's directories.
type scanner struct {
	root         *os.Root
	digests      *digests
	most         int   // entries
	each         int64 // bytes of a file that is carried
	makeReadable bool  // give the owner the permission to read what is scanned
}

// maxNames bounds how many names of one directory are read.
const maxNames = 250_000

// errCut ends a scan at the limit of entries.
var errCut = errors.New("too many files")

// scan lists everything below the root, in order. Nothing else writes or scans the tree
// meanwhile, so a temporary file is a leftover, and is removed.
func (s *scanner) scan(ctx context.Context) (manifest, error) {
	s.digests.beginScan()
	var m manifest
	top, err := s.root.Lstat(".")
	if err != nil {
		return m, err
	}
	names, err := s.list(".", top)
	if err == nil {
		err = s.walk(ctx, &m, "", 0, names)
	}
	if errors.Is(err, errCut) {
		m.cut, err = true, nil
	}
	if err == nil {
		s.digests.endScan()
	}
	return m, err
}

// walk adds the entries of a directory and all below them.
func (s *scanner) walk(ctx context.Context, m *manifest, dir string, depth int, names []fs.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, info := range names {
		name := info.Name()
		path := name
		if dir != "" {
			path = dir + "/" + name
		}
		if temporary(name) {
			_ = s.root.Remove(path)
			continue
		}
		if depth == maxDepth || len(path) > maxPath || !utf8.ValidString(name) {
			m.dropped++
			continue
		}
		if len(m.all) == s.most {
			return errCut
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 && info.Mode()&fs.ModeSymlink == 0 {
			m.dropped++
		}
		if !info.IsDir() {
			n, err := s.node(ctx, s.root, path, info)
			if err != nil {
				return err
			}
			if n.kind == special {
				m.dropped++
			}
			if n.kind != nothing {
				m.all = append(m.all, entry{path, n})
			}
			continue
		}
		below, err := s.list(path, info)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOther):
			continue
		case err != nil:
			m.all = append(m.all, entry{path, node{kind: unreadable}})
			continue
		}
		m.all = append(m.all, entry{path, node{kind: directory, perm: uint16(info.Mode().Perm())}})
		if err := s.walk(ctx, m, path, depth+1, below); err != nil {
			return err
		}
	}
	return nil
}

// list returns the entries of a directory, sorted by name. seen is what stat said of it.
func (s *scanner) list(path string, seen fs.FileInfo) ([]fs.FileInfo, error) {
	const flags = os.O_RDONLY | syscall.O_DIRECTORY // fails instead of waiting if a pipe has taken its place
	f, err := s.root.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrPermission) && s.makeReadable && s.root.Chmod(path, seen.Mode().Perm()|0o700) == nil {
		f, err = s.root.OpenFile(path, flags, 0)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = errOther
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if is, err := f.Stat(); err != nil {
		return nil, err
	} else if !os.SameFile(is, seen) {
		return nil, errOther
	}
	var all []fs.FileInfo
	for {
		some, err := f.Readdir(1024)
		all = append(all, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(all) > maxNames {
			return nil, errCut
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// node describes the file at a path below root, of which stat said info; nothing if it has
// vanished since. Its only errors are those of ctx.
func (s *scanner) node(ctx context.Context, root *os.Root, path string, info fs.FileInfo) (node, error) {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return node{kind: directory, perm: uint16(mode.Perm())}, nil
	case mode&fs.ModeSymlink != 0:
		return s.link(root, path, info), nil
	case !mode.IsRegular():
		return node{kind: special}, nil
	case info.Size() > s.each:
		return node{kind: large, size: info.Size()}, nil
	}
	n := node{kind: file, perm: uint16(info.Mode().Perm()), size: info.Size()}
	if sum, ok := s.digests.lookup(info); ok {
		n.digest = sum
		return n, nil
	}
	f, is, err := openSame(root, path, info)
	if errors.Is(err, fs.ErrPermission) && s.makeReadable && root.Chmod(path, info.Mode().Perm()|0o400) == nil {
		n.perm |= 0o400
		f, is, err = openSame(root, path, info)
	}
	if err == nil {
		n.digest, n.size, err = s.digests.read(ctx, f, is, s.each, nil)
		f.Close()
	}
	switch {
	case err == nil, errors.Is(err, errChanged):
		return n, nil
	case ctx.Err() != nil:
		return node{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errOther):
		return node{}, nil
	case errors.Is(err, errTooLarge):
		return node{kind: large, size: s.each + 1}, nil
	}
	return node{kind: unreadable}, nil
}

func (s *scanner) link(root *os.Root, path string, info fs.FileInfo) node {
	if sum, ok := s.digests.lookup(info); ok {
		return node{kind: link, size: info.Size(), digest: sum}
	}
	began := s.digests.now()
	target, err := root.Readlink(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return node{}
	case err != nil || !validTarget(target):
		return node{kind: special}
	}
	n := linkNode(target)
	if n.size == info.Size() {
		s.digests.store(info, began, n.digest)
	}
	return n
}

func linkNode(target string) node {
	return node{kind: link, size: int64(len(target)), digest: sha256.Sum256([]byte(target))}
}

func validTarget(target string) bool {
	return target != "" && len(target) <= maxPath && strings.IndexByte(target, 0) < 0
}
