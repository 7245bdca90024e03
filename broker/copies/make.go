package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

// Report says what was copied.
type Report struct {
	Files   int   // files, directories and links
	Bytes   int64 // of the files
	Dropped int   // what was left out: devices, pipes, sockets, and names that cannot be carried
}

// Paths that can be carried to a container.
const (
	maxDepth = 64
	maxPath  = 4096
)

// carried reports whether a path can be carried to a container.
func carried(name string) bool {
	return len(name) <= maxPath && strings.Count(name, "/") < maxDepth && fs.ValidPath(name) && !strings.ContainsRune(name, 0)
}

// entry is something that is copied.
type entry struct {
	path string
	kind kind
	size int64
}

// settled is how long ago a file must have changed last for its stamp to tell the next change.
const settled = 2 * time.Second

// Made reports whether a copy was made completely.
func Made(note string) bool {
	_, err := os.Lstat(note)
	return err == nil
}

// Make copies a person's directory, named by its real path, to a new directory, and notes at the path note which state
// both have. What an interrupted Make has left there is removed first. A directory beyond the
// limits is refused before anything is copied. Nobody may use the copy before Make returns.
func Make(ctx context.Context, from, to, note string, l Limits) (Report, error) {
	var r Report
	all, err := listed(ctx, from, &r)
	if err != nil {
		return Report{}, fmt.Errorf("copy %s: %w", quoted(from), err)
	}
	if err := l.usual().check(from, all); err != nil {
		return Report{}, err
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("copy %s: %w", quoted(from), err)
	}
	m := maker{ctx: ctx, limits: l.usual(), began: time.Now(), nodes: map[string]pair{}, report: &r}
	err = m.copy(from, to, all)
	if err == nil {
		err = m.note(to, note)
	}
	if err != nil {
		return Report{}, fmt.Errorf("copy %s: %w", quoted(from), err)
	}
	return r, nil
}

// listed lists what can be copied of a directory, each directory before what is in it.
func listed(ctx context.Context, dir string, r *Report) (all []entry, err error) {
	err = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
		kind, name := kindOf(&e.Stat), e.Path()
		if kind == special || !carried(name) || isTemporary(e.Name) {
			r.Dropped++
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		one := entry{path: name, kind: kind}
		if kind == file {
			one.size = e.Stat.Size
		}
		all = append(all, one)
		return nil
	})
	return all, err
}

// kindOf returns the kind of what was found by a walk.
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
	limits   Limits
	began    time.Time
	nodes    map[string]pair
	report   *Report
	from, to *dirs
}

// copy copies what was listed into a directory of its own.
func (m *maker) copy(from, to string, all []entry) (err error) {
	if err := dirtree.Remove(m.ctx, to); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
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
		n, err := m.one(e)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMoved) || errors.Is(err, errKind) || errors.Is(err, errNoDir) {
			continue // somebody works there at the same time
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quoted(e.path), err)
		}
		m.report.Files++
		if !git(e.path) {
			m.nodes[e.path] = n
		}
	}
	return nil
}

// one copies one entry, and returns the state that both sides have then.
func (m *maker) one(e entry) (pair, error) {
	in, base, err := m.from.of(e.path)
	if err != nil {
		return pair{}, err
	}
	out, _, err := m.to.of(e.path)
	if err != nil {
		return pair{}, err
	}
	switch e.kind {
	case directory:
		return pair{node: node{kind: directory}}, out.Mkdir(base, 0o755)
	case link:
		target, err := in.Readlink(base)
		if err != nil {
			return pair{}, errKind
		}
		return pair{node: node{kind: link, target: target}}, out.Symlink(target, base)
	}
	return m.file(in, out, base)
}

// file copies a file. Its times stay, because programs that build compare them.
func (m *maker) file(in, out *os.Root, name string) (p pair, err error) {
	from, info, err := openFile(in, name)
	if err != nil {
		return p, err
	}
	defer from.Close()
	p.kind, p.exec = file, executable(info.Mode())
	if at := stampOf(from); time.Unix(0, at.changed).Add(settled).Before(m.began) {
		p.origin = at
	}
	perm := info.Mode().Perm()&0o755 | 0o600
	to, err := out.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return p, err
	}
	p.digest, p.size, err = sum(&stopping{m.ctx, io.LimitReader(from, m.limits.Each+1)}, to)
	if err == nil && p.size > m.limits.Each {
		err = fmt.Errorf("it grows beyond %s", Size(m.limits.Each))
	}
	if err == nil {
		err = to.Chmod(perm) // whatever the umask is
	}
	if err == nil {
		err = out.Chtimes(name, info.ModTime(), info.ModTime())
	}
	p.copied = stampOf(to)
	m.report.Bytes += p.size
	return p, errors.Join(err, to.Close())
}

// note keeps the state that both sides have.
func (m *maker) note(to, path string) error {
	return note{branches: branchesOf(to), nodes: m.nodes}.keep(path)
}

// stopping is a reader that ends with a context.
type stopping struct {
	ctx context.Context
	r   io.Reader
}

func (s *stopping) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// temporary is how the names of files begin that are being landed.
const temporary = ".ironcurtain-landing-"

func isTemporary(name string) bool { return strings.HasPrefix(name, temporary) }

// git reports whether a path leads into a directory of git's own, on any file system.
func git(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if hostexec.Git(part) {
			return true
		}
	}
	return false
}
