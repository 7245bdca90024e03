package obeyed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

// Look is the result of looking at a directory.
type Look struct {
	Files  map[string]File // by their paths below the directory
	Missed string          // why not everything was examined, or ""
}

// File is a file or a repository that a program would run or obey.
type File struct {
	Digest string // identifies the state; "" if the file could not be read
	why    string
	unit   string // the path that a person sees: the file, or a directory that counts as a whole
	git    bool
	// inner is set for a repository that matters only inside another one, because git would use it
	// instead of that one.
	inner bool
	// idle is set for a configuration that makes git run or obey nothing. It is kept so that its
	// change is not reported as new.
	idle bool
}

// limits bound a look.
type limits struct {
	dirs, entries, depth int
	files, names         int // findings, and bytes of their paths
	repositories         int
	bytes                int64 // of files that are read
	time                 time.Duration
}

// usual is enough for a large project with all its dependencies.
var usual = limits{
	dirs: 200_000, entries: 2_000_000, depth: 64, files: 20_000, names: 8 << 20,
	repositories: 1000, bytes: 256 << 20,
}

// quick is enough for one repository and its submodules.
var quick = limits{
	dirs: 1000, entries: 20_000, depth: usual.depth, files: 1000, names: 1 << 20,
	repositories: 100, bytes: 16 << 20, time: time.Second,
}

// Take looks at a directory for at most that long. It also reads the git configuration in the
// person's home directory and in the repositories above, because they can name files in it.
func Take(ctx context.Context, dir, userHome string, most time.Duration) (Look, error) {
	bounded := usual
	bounded.time = most
	return look(ctx, dir, userHome, bounded, func(l *looker) { l.enter(&place{}) }, nil)
}

// TakeRepository looks only at the repository whose work tree the directory is, at its submodules,
// in which 'git status' runs git, and at the files that their configuration names.
func TakeRepository(ctx context.Context, dir, userHome string) (Look, error) {
	return look(ctx, dir, userHome, quick, func(l *looker) {
		if l.isDir(".git") {
			l.repository(".git", ".")
		}
	}, nil)
}

// look looks at a directory: begin says where it starts. It adds the files that a configuration
// names to named, unless that is nil.
func look(ctx context.Context, dir, userHome string, most limits, begin func(*looker), named *Names) (Look, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Look{}, fmt.Errorf("look at the workspace: %w", err)
	}
	defer root.Close()
	limited, cancel := context.WithTimeout(ctx, most.time)
	defer cancel()
	l := &looker{ctx: limited, root: root, base: dir, home: userHome, most: most, seen: map[[2]string]bool{}, named: named, look: Look{Files: map[string]File{}}}
	l.outside()
	begin(l)
	for len(l.queue) > 0 && l.mayContinue() {
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.list(next)
	}
	return l.look, context.Cause(ctx)
}

// looker is one running look. It visits directories in the order of their depth, so that it finds
// the entries nearest to the top before it reaches a limit.
type looker struct {
	ctx                         context.Context
	root                        *os.Root
	base, home                  string
	most                        limits
	look                        Look
	queue                       []*place
	dirs, entries, names, repos int
	bytes                       int64
	seen                        map[[2]string]bool // included configurations, each with its work tree
	stopped                     bool
	named                       *Names // the files that configurations name; nil if not wanted
}

// place is a directory to visit. It has only the last part of its path, because an agent can make
// paths of any length.
type place struct {
	above  *place
	name   string
	depth  int
	linked bool   // its path goes through a link
	all    string // why everything below counts, or ""
	unit   string // if all is set, the path that a person sees
}

func (p *place) path() string {
	if p.above == nil {
		return "."
	}
	parts := make([]string, 0, p.depth)
	for at := p; at.above != nil; at = at.above {
		parts = append(parts, at.name)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
		if i > 0 {
			b.WriteByte('/')
		}
	}
	return b.String()
}

// mayContinue reports whether there is time left and nothing has stopped the look.
func (l *looker) mayContinue() bool {
	if l.ctx.Err() != nil {
		l.stop("the look took longer than %v", l.most.time)
	}
	return !l.stopped
}

// stop stops the look, and notes why.
func (l *looker) stop(format string, args ...any) {
	l.missed(format, args...)
	l.stopped = true
}

// missed notes why something was not examined. It keeps the first reason.
func (l *looker) missed(format string, args ...any) {
	if l.look.Missed == "" {
		l.look.Missed = fmt.Sprintf(format, args...)
	}
}

// enter adds a directory to the queue.
func (l *looker) enter(p *place) {
	switch l.dirs++; {
	case p.depth > l.most.depth:
		l.missed("there are files deeper than %d directories", l.most.depth)
	case l.dirs > l.most.dirs:
		l.stop("there are more than %d directories", l.most.dirs)
	default:
		l.queue = append(l.queue, p)
	}
}

// list visits a directory.
func (l *looker) list(p *place) {
	dir := p.path()
	f, err := l.root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return
	}
	if err != nil {
		l.missed("%s cannot be read", shown(dir))
		return
	}
	defer f.Close()
	var marks gitMarks
	for l.mayContinue() {
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			marks.note(e.Name())
			l.entry(p, dir, e)
		}
		if l.entries += len(entries); l.entries > l.most.entries {
			l.stop("there are more than %d files", l.most.entries)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.missed("%s cannot be read", shown(dir))
			break
		}
	}
	if marks.repository() {
		l.repository(dir, dir)
	}
}

// entry examines an entry of a directory.
func (l *looker) entry(p *place, dir string, e fs.DirEntry) {
	name := path.Join(dir, e.Name())
	below := &place{above: p, name: e.Name(), depth: p.depth + 1, linked: p.linked, all: p.all, unit: p.unit}
	kind := e.Type()
	switch {
	case kind&fs.ModeSymlink != 0:
		l.link(p, below, name)
	case p.all != "" && kind.IsDir():
		l.enter(below)
	case p.all != "":
		l.file(name, File{why: p.all, unit: p.unit})
	case isGit(e.Name()) && kind.IsDir():
		l.repository(name, dir)
	case isGit(e.Name()):
		l.file(name, File{why: "git uses the repository that this file names", unit: name, git: true})
	case kind.IsDir():
		if below.all = hostexec.Name(p.name, e.Name(), true); below.all != "" {
			below.unit = name
		}
		l.enter(below)
	default:
		if why := hostexec.Name(p.name, e.Name(), false); why != "" {
			l.file(name, File{why: why, unit: name})
		}
	}
}

// link examines a link, and the target if that is in the workspace, because programs follow links.
// In a directory that it has entered through a link, it follows no other link to a directory.
func (l *looker) link(p, below *place, name string) {
	if p.all == "" && isGit(below.name) {
		l.file(name, File{why: "git uses the repository that this link leads to", unit: name, git: true})
		if l.isDir(name) {
			l.repository(name, path.Dir(name))
		}
		return
	}
	isDir := l.isDir(name)
	why := p.all
	if why == "" {
		why = hostexec.Name(p.name, below.name, isDir)
	}
	if why == "" && !isDir { // the target may be a directory outside, or one that will be made
		why = hostexec.Name(p.name, below.name, true)
	}
	if why != "" {
		below.all = why
		if below.unit == "" {
			below.unit = name
		}
		l.file(name, File{why: why, unit: below.unit})
	}
	if isDir && !p.linked && (why != "" || strings.HasPrefix(below.name, ".")) {
		below.linked = true
		l.enter(below)
	}
}

// isDir reports whether a path leads to a directory in the workspace.
func (l *looker) isDir(name string) bool {
	info, err := l.root.Stat(name)
	return err == nil && info.IsDir()
}
