package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Access says what a call may do with a file or directory.
type Access struct {
	Path                string // absolute and canonical: no part of it is a link
	Read, Write, Delete bool
}

// maxCopy is the largest file that is copied to a stage, in bytes. Larger ones that are
// only read are bound.
const maxCopy = 64 << 20

// Plan is what a call needs on its stage. It is immutable.
type Plan struct {
	targets []target
}

// target is a path of the call as New found it.
type target struct {
	Access
	base  string      // the nearest directory above that exists
	in    os.FileInfo // of base
	found os.FileInfo // of the path itself; nil: it does not exist
	bound bool        // bound, not copied
}

// Bind is a file or directory of the host that is bound to the stage.
type Bind struct {
	Path     string
	Writable bool
	Info     os.FileInfo // of what was judged; anything else must not be bound
}

// New plans the stage of a call. An error says why the call could not take effect.
func New(accesses []Access) (*Plan, error) {
	p := &Plan{}
	for _, a := range merged(accesses) {
		t, err := look(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Path, err)
		}
		p.targets = append(p.targets, t)
	}
	for _, dir := range p.targets {
		for _, t := range p.targets {
			if dir.Delete && t.Path != dir.Path && Within(t.Path, dir.Path) {
				return nil, fmt.Errorf("%s is in %s, which the call removes or moves", t.Path, dir.Path)
			}
			if dir.leavesTo(t) {
				if err := dir.copyable(); err != nil {
					return nil, fmt.Errorf("%s goes to another file system, so its files would have to be copied: %w", dir.Path, err)
				}
			}
		}
	}
	p.targets = slices.DeleteFunc(p.targets, p.covered)
	return p, nil
}

// leavesTo reports whether the call may move the target, a directory, to a target on another file
// system.
func (t target) leavesTo(to target) bool {
	return t.Delete && t.found != nil && t.found.IsDir() && to.Write && to.found == nil && device(t.found) != device(to.in)
}

// copyable returns an error if the directory cannot be copied completely.
func (t target) copyable() error {
	entries, size := 0, int64(0)
	return filepath.WalkDir(t.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		entries, size = entries+1, size+info.Size()
		switch mode := info.Mode(); {
		case entries > maxEntries || size > maxBytes:
			return errTooMuch
		case mode.IsRegular() || mode.IsDir():
			return permitted(path, unix.R_OK)
		case mode&fs.ModeSymlink == 0:
			return fmt.Errorf("%s is %s", path, kind(mode))
		}
		return nil
	})
}

// merged returns the accesses with one entry for each path, in order of the paths.
func merged(accesses []Access) []Access {
	all := slices.Clone(accesses)
	slices.SortStableFunc(all, func(a, b Access) int { return strings.Compare(a.Path, b.Path) })
	var out []Access
	for _, a := range all {
		if n := len(out); n > 0 && out[n-1].Path == a.Path {
			last := &out[n-1]
			last.Read, last.Write, last.Delete = last.Read || a.Read, last.Write || a.Write, last.Delete || a.Delete
			continue
		}
		out = append(out, a)
	}
	return out
}

// covered reports whether a target is in a directory that is bound with the same access.
func (p *Plan) covered(t target) bool {
	return slices.ContainsFunc(p.targets, func(dir target) bool {
		return dir.bound && dir.Path != t.Path && Within(t.Path, dir.Path) && !t.Delete && (dir.Write || !t.Write)
	})
}

// pseudo are the kernel's directories. Their files describe the process that reads them, so a copy
// that the host makes would contain the host's secrets.
var pseudo = []string{"/proc", "/sys", "/dev"}

// look finds out what is at a path, and whether this process may do what the call does.
func look(a Access) (target, error) {
	t := target{Access: a}
	if !filepath.IsAbs(a.Path) || filepath.Clean(a.Path) != a.Path || strings.ContainsRune(a.Path, 0) {
		return t, errors.New("the path is not canonical")
	}
	if slices.ContainsFunc(pseudo, func(dir string) bool { return Within(a.Path, dir) }) {
		return t, errors.New("tool servers cannot reach devices and files of the kernel")
	}
	dir := filepath.Dir(a.Path)
	if dir == "/" {
		return t, fault.New("choose a path in a directory", "tool servers can reach nothing directly below /")
	}
	for {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() {
			t.base, t.in = dir, info
			break
		}
		if err == nil {
			return t, fmt.Errorf("%s is %s", dir, kind(info.Mode()))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return t, fault.WithoutPath(err)
		}
		dir = filepath.Dir(dir)
	}
	resolved, err := filepath.EvalSymlinks(t.base)
	if err != nil {
		return t, fault.WithoutPath(err)
	}
	if resolved != t.base {
		return t, fmt.Errorf("its directory is %s now", resolved)
	}
	info, err := os.Lstat(a.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return t, fault.WithoutPath(err)
	default:
		t.found = info
	}
	return t, t.check()
}

// check returns an error if the call could not access the target as it must.
func (t *target) check() error {
	if t.found == nil {
		if !t.Write {
			return fs.ErrNotExist
		}
		return permitted(t.base, unix.W_OK|unix.X_OK)
	}
	mode := t.found.Mode()
	if !mode.IsRegular() && !mode.IsDir() {
		return fmt.Errorf("it is neither a file nor a directory, but %s", kind(mode))
	}
	changes := t.Write || t.Delete
	if t.Read || mode.IsRegular() && changes {
		if err := permitted(t.Path, unix.R_OK); err != nil {
			return err
		}
	}
	if mode.IsDir() {
		t.bound = !t.Delete
	} else if t.found.Size() > maxCopy {
		if t.bound = !changes; changes {
			return fmt.Errorf("it has %d MiB, and tool servers change files outside the workspace only up to %d MiB", t.found.Size()>>20, maxCopy>>20)
		}
	}
	switch {
	case !changes:
		return nil
	case t.bound:
		return permitted(t.Path, unix.W_OK|unix.X_OK)
	default: // replacing or removing it changes its directory
		if t.Write && permitted(t.Path, unix.W_OK) != nil {
			return permitted(t.Path, unix.W_OK)
		}
		return permitted(t.base, unix.W_OK|unix.X_OK)
	}
}

// permitted returns an error if this process may not use a path in this way, for example because the
// file system is mounted read-only.
func permitted(path string, mode uint32) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	if err == nil {
		return nil
	}
	what := "read"
	if mode&unix.W_OK != 0 {
		what = "change"
	}
	return fmt.Errorf("you may not %s %s: %w", what, path, err)
}

// kind names the type of a file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Binds returns the files and directories that are bound to the stage.
func (p *Plan) Binds() []Bind {
	var all []Bind
	for _, t := range p.targets {
		if t.bound {
			all = append(all, Bind{Path: t.Path, Writable: t.Write, Info: t.found})
		}
	}
	return all
}

// Directories returns the existing directories of the files that are copied.
func (p *Plan) Directories() []string {
	var all []string
	for _, t := range p.targets {
		if !t.bound {
			all = append(all, t.base)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Base returns the narrowest directory that contains everything the call names.
func (p *Plan) Base() string {
	base := ""
	for _, t := range p.targets {
		dir := t.Path
		if !t.bound {
			dir = t.base
		}
		if base == "" {
			base = dir
		}
		for !Within(dir, base) {
			base = filepath.Dir(base)
		}
	}
	return base
}

// Removes reports whether the call may remove or move a file.
func (p *Plan) Removes() bool {
	return slices.ContainsFunc(p.targets, func(t target) bool { return t.Delete })
}

// Top returns the directory directly below the root that contains an absolute path.
func Top(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + name
}

// Within reports whether a clean path is the directory or below it.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
