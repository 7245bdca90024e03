package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// guard knows the protected files and directories.
type guard struct {
	entries []guardEntry
	open    []string // resolved: the sandbox and the unprotected directories
	written []string // patterns of directories that agents write to
}

// guardEntry is one protected file or directory.
type guardEntry struct {
	name     string // as configured
	resolved pathx.Resolved
	// changeable means that it lies in an open directory, where agents can change links. It is
	// resolved for each call.
	changeable bool
}

func newGuard(paths *pathx.Resolver, protected, unprotected, written []string) (*guard, error) {
	g := &guard{written: written}
	if paths.Base != "" {
		g.open = append(g.open, paths.Base)
	}
	for _, name := range unprotected {
		got, err := paths.ResolveTrusted(name)
		if err != nil {
			return nil, fmt.Errorf("unprotected directory %q: %w", name, err)
		}
		g.open = append(g.open, got.Path)
	}
	for _, name := range protected {
		if name == "" {
			return nil, errors.New("a protected path is empty")
		}
		got, err := paths.ResolveTrusted(name)
		if err != nil {
			return nil, fmt.Errorf("protected path %q: %w", name, err)
		}
		literal := filepath.Clean(name)
		inside := slices.ContainsFunc(g.open, func(dir string) bool { return pathx.Within(got.Path, dir) || pathx.Within(literal, dir) })
		g.entries = append(g.entries, guardEntry{name: name, resolved: got, changeable: inside})
		if filepath.IsAbs(literal) && literal != got.Path {
			// The configured name is protected as well, in case its links change.
			g.entries = append(g.entries, guardEntry{name: name, resolved: pathx.Resolved{Path: literal}})
		}
	}
	return g, nil
}

// guardView is the guard during one call. Every protected name is resolved once.
type guardView struct {
	*guard
	resolved []pathx.Resolved // by the index of the entry
	links    linkIndex
}

// view resolves the protected names that may have changed since the engine was made.
func (g *guard) view(paths *pathx.View) (*guardView, error) {
	v := &guardView{guard: g, resolved: make([]pathx.Resolved, len(g.entries))}
	for i, e := range g.entries {
		v.resolved[i] = e.resolved
		if !e.changeable {
			continue
		}
		var err error
		if v.resolved[i], err = paths.ResolveTrusted(e.name); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// protects reports whether a file is protected: because of its path, because of the
// identity of the file or a directory above it, or because it is a hard link to a
// protected file.
func (g *guardView) protects(ctx context.Context, r pathx.Resolved) (bool, error) {
	linked := r.Exists && !r.Dir && r.Links > 1
	for i := range g.resolved {
		p := &g.resolved[i]
		if (within(r.Path, p.Path) || (p.Exists && slices.Contains(r.Idents(), p.Ident))) && !g.excluded(r.Path, p.Path) {
			return true, nil
		}
		if linked && p.Dir {
			found, err := g.links.contains(ctx, g.guard, p.Path, r.Ident)
			if found || err != nil {
				return true, err
			}
		}
	}
	return false, nil
}

// agents reports whether dir is a directory that agents write to.
func (g *guard) agents(dir string) bool {
	return slices.ContainsFunc(g.written, func(pattern string) bool {
		is, err := filepath.Match(pattern, dir)
		return is && err == nil
	})
}

// excluded reports whether an open directory inside the protected one covers
// the path.
func (g *guard) excluded(path, protected string) bool {
	for _, open := range g.open {
		if open != protected && pathx.Within(open, protected) && pathx.Within(path, open) {
			return true
		}
	}
	return false
}

// within is pathx.Within, but ignores case. On a disk that ignores case, a protected file
// that does not exist yet has many spellings. On every other disk, refusing all of them
// does no harm.
func within(p, dir string) bool {
	if len(p) < len(dir) || !strings.EqualFold(p[:len(dir)], dir) {
		return false
	}
	return len(p) == len(dir) || p[len(dir)] == '/' || dir == "/"
}

// covers reports whether a protected file lies at or below a path, so that a recursive
// operation on the path would reach it. A protected file that is known not to exist counts
// only if missing is true.
func (g *guardView) covers(r pathx.Resolved, missing bool) bool {
	for i := range g.resolved {
		p := &g.resolved[i]
		if !missing && !p.Exists && g.entries[i].changeable {
			continue
		}
		if within(p.Path, r.Path) || (r.Exists && slices.Contains(p.Idents(), r.Ident)) {
			return true
		}
	}
	return false
}

// maxGuarded is how many files the search for hard links to protected files may look at.
// That takes some seconds. Directories that agents write to are not searched. Tests lower
// the bound.
var maxGuarded = 2_000_000

// linkIndex knows the identities of files below protected directories that have several
// hard links. It is made for one call, and only if the call names a file with several
// hard links, because making it means looking at every file.
type linkIndex struct {
	dirs map[string]map[pathx.Ident]struct{}
	seen int
}

// contains reports whether a file with that identity lies below dir.
func (x *linkIndex) contains(ctx context.Context, g *guard, dir string, id pathx.Ident) (bool, error) {
	if _, done := x.dirs[dir]; !done {
		if err := x.read(ctx, g, dir); err != nil {
			return false, err
		}
	}
	_, found := x.dirs[dir][id]
	return found, nil
}

// searching limits hard-link searches to one at a time. A search among very many files takes
// a second of CPU time and keeps their names in memory, and an agent can make any call need
// one.
var searching = make(chan struct{}, 1)

func (x *linkIndex) read(ctx context.Context, g *guard, dir string) error {
	select {
	case searching <- struct{}{}:
		defer func() { <-searching }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	files := map[pathx.Ident]struct{}{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return errors.New("a protected directory cannot be listed to look for hard links")
		case d.IsDir() && name != dir && (slices.Contains(g.open, name) || g.agents(name)):
			return fs.SkipDir
		}
		if x.seen++; x.seen > maxGuarded {
			return fmt.Errorf("there are more than %d protected files, too many to look for hard links", maxGuarded)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		var st unix.Stat_t
		switch err := unix.Lstat(name, &st); {
		case errors.Is(err, unix.ENOENT): // it was removed meanwhile
		case err != nil:
			return errors.New("a protected file cannot be examined for hard links")
		case st.Nlink > 1:
			files[pathx.Ident{Dev: uint64(st.Dev), Ino: st.Ino}] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if x.dirs == nil {
		x.dirs = map[string]map[pathx.Ident]struct{}{}
	}
	x.dirs[dir] = files
	return nil
}
