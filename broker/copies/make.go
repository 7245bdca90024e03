package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

// Limits of paths; those of broker/reach/treesync, which takes the copy to the container.
const (
	maxDepth = 64
	maxPath  = 4096
)

// canCopy reports whether a path can be copied to a container.
func canCopy(name string) bool {
	return len(name) <= maxPath && strings.Count(name, "/") < maxDepth && fs.ValidPath(name) && !strings.ContainsRune(name, 0)
}

// entry is a file, directory or link that is to be copied.
type entry struct {
	path string
	kind kind
	size int64
}

// Made reports whether a copy was completed.
func Made(note string) bool {
	_, err := os.Lstat(note)
	return err == nil
}

// Make copies a person's directory, named by its real path, to a new directory, and writes the
// common state of both to notePath. It first removes what an interrupted Make has left there. It
// refuses a directory above the limits before it copies anything. Nobody may use the copy before
// Make returns. dropped counts what was not copied: devices, pipes, sockets, and names that
// cannot be.
func Make(ctx context.Context, from, to, notePath string) (dropped int, err error) {
	all, dropped, err := listed(ctx, from)
	if err == nil {
		err = standard.check(all)
	}
	if err == nil {
		m := maker{ctx: ctx, nodes: map[string]pair{}}
		err = m.make(from, to, notePath, all)
	}
	return dropped, fault.Wrap("copy "+quoted(from), err, "")
}

// listed returns what can be copied of a directory, each directory before what is in it.
func listed(ctx context.Context, dir string) (all []entry, dropped int, err error) {
	err = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
		kind, name := kindOf(&e.Stat), e.Path()
		if kind == special || !canCopy(name) || isTemporary(e.Name) {
			dropped++
			return skip(e)
		}
		one := entry{path: name, kind: kind}
		if kind == file {
			one.size = e.Stat.Size
		}
		all = append(all, one)
		return nil
	})
	if limit := (*dirtree.Limit)(nil); errors.As(err, &limit) {
		err = fault.Wrap("", err, alternative)
	}
	return all, dropped, err
}

// kindOf returns the kind of a file that a walk found.
func kindOf(st *unix.Stat_t) kind {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return file
	case unix.S_IFDIR:
		return directory
	case unix.S_IFLNK:
		return link
	}
	return special
}

// maker makes one copy.
type maker struct {
	ctx      context.Context
	nodes    map[string]pair
	from, to *dirs
}

// make copies what was listed into a new directory, and writes the note.
func (m *maker) make(from, to, notePath string, all []entry) error {
	if err := os.Remove(notePath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := dirtree.Remove(m.ctx, to); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := m.copy(from, to, all); err != nil {
		return err
	}
	return note{branches: branchesOf(to), nodes: m.nodes}.write(notePath)
}

func (m *maker) copy(from, to string, all []entry) (err error) {
	if m.from, err = openOrigin(from); err != nil {
		return err
	}
	defer m.from.close()
	if m.to, err = openDirs(to); err != nil {
		return err
	}
	defer m.to.close()
	for _, e := range all {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		n, err := m.copyEntry(e)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errReplaced) || errors.Is(err, errNotRegular) || errors.Is(err, errNoDir) {
			continue // it was changed since it was listed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quoted(e.path), err)
		}
		if !git(e.path) {
			m.nodes[e.path] = n
		}
	}
	return nil
}

// copyEntry copies one entry, and returns the common state.
func (m *maker) copyEntry(e entry) (pair, error) {
	in, base, err := m.from.parent(e.path)
	if err != nil {
		return pair{}, err
	}
	out, _, err := m.to.parent(e.path)
	if err != nil {
		return pair{}, err
	}
	switch e.kind {
	case directory:
		return pair{node: node{kind: directory}}, out.Mkdir(base, 0o755)
	case link:
		target, err := in.Readlink(base)
		if err != nil {
			return pair{}, errNotRegular
		}
		return pair{node: node{kind: link, target: target}}, out.Symlink(target, base)
	default:
		return m.copyFile(in, out, base)
	}
}

// copyFile copies a file, with its times, because build tools compare them.
func (m *maker) copyFile(in, out *os.Root, name string) (p pair, err error) {
	from, info, err := openFile(in, name)
	if err != nil {
		return p, err
	}
	defer from.Close()
	p.kind, p.exec = file, executable(info.Mode())
	p.origin = oldStamp(from)
	perm := info.Mode().Perm()&0o755 | 0o600
	to, err := out.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return p, err
	}
	p.digest, p.size, err = sum(bounded.Reader(m.ctx, io.LimitReader(from, standard.each+1)), to)
	if err == nil && p.size > standard.each {
		err = fmt.Errorf("it grows beyond %s", text.Size(standard.each))
	}
	if err == nil {
		err = to.Chmod(perm) // whatever the umask is
	}
	if err == nil {
		err = out.Chtimes(name, info.ModTime(), info.ModTime())
	}
	p.copied = stampOf(to)
	return p, errors.Join(err, to.Close())
}

// temporary is the prefix of the names of files that are being landed.
const temporary = ".ironcurtain-landing-"

func isTemporary(name string) bool { return strings.HasPrefix(name, temporary) }

// git reports whether a path leads into a .git directory, on a file system of any kind.
func git(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if hostexec.Git(part) {
			return true
		}
	}
	return false
}
