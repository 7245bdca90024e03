package copies

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

// judge decides of each change whether it can be landed, and whether programs of this machine
// would run it. A directory comes before what is in it.
func (d *Diff) judge() error {
	copied, err := openDirs(d.copy)
	if err != nil {
		return err
	}
	defer copied.close()
	origin, err := openOrigin(d.Origin)
	if err != nil {
		return err
	}
	defer origin.close()
	at := map[string]*Change{}
	for i := range d.Changes {
		c := &d.Changes[i]
		at[c.Path] = c
		if c.Stays == "" {
			c.Stays, c.Conflict = d.stays(c, at, copied, origin)
		}
		if c.copied.kind == file || c.copied.kind == link {
			c.Runs = cmp.Or(
				hostexec.Path("./"+c.Path, func(name string) bool { return exists(origin, name) }),
				hostexec.Path("./"+c.Path, func(name string) bool { return exists(copied, name) || exists(origin, name) }))
		}
	}
	return nil
}

// Mark also marks what git would run because of the configuration of the directory and, if that is
// a home directory, of the person.
func (d *Diff) Mark(ctx context.Context, userHome string) error {
	names, err := obeyed.Name(ctx, d.Origin, userHome)
	if err != nil {
		return err
	}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Runs == "" && (c.copied.kind == file || c.copied.kind == link) {
			c.Runs = names.Why(c.Path)
		}
	}
	if names.Missed != "" {
		d.Unmarked = names.Missed
	}
	return nil
}

// exists reports whether there is something at a path.
func exists(in *dirs, name string) bool {
	_, err := in.root.Lstat(path.Clean(name))
	return err == nil
}

// stays says why a change cannot be landed, and whether that is a conflict.
func (d *Diff) stays(c *Change, at map[string]*Change, copied, origin *dirs) (why string, conflict bool) {
	dir := dirtree.Short(d.Origin)
	switch {
	case c.copied.kind == special:
		return "it is a device, pipe or socket, larger than " + text.Size(standard.each) + ", or cannot be read", false
	case !c.base.same(c.origin) && c.base.kind == nothing:
		return fmt.Sprintf("%s has %s of that name now", dir, c.origin.kind), true
	case !c.base.same(c.origin) && c.origin.kind == nothing:
		return "it was deleted in " + dir + ", too", true
	case !c.base.same(c.origin):
		return "it was changed in " + dir + ", too", true
	case c.copied.kind == nothing:
		return "", false
	}
	parents(c.Path, func(above string) bool {
		if change := at[above]; change != nil {
			if change.Stays != "" {
				why, conflict = dirtree.Short(above)+" stays", change.Conflict
			}
			return false
		}
		switch is, _, err := origin.look(above, noted{}); {
		case err != nil:
			why = fmt.Sprintf("%s cannot be read in %s: %v", dirtree.Short(above), dir, fault.WithoutPath(err))
		case is.kind == nothing:
			return true // landing makes it
		case is.kind != directory:
			why, conflict = fmt.Sprintf("%s is %s in %s now", dirtree.Short(above), is.kind, dir), true
		}
		return false
	})
	if why == "" && c.copied.kind == link && !(inside(copied.root, c.Path, c.copied.target) && inside(origin.root, c.Path, c.copied.target)) {
		why = leadsOut
	}
	return why, conflict
}

// leadsOut is why a link is not landed.
const leadsOut = "the link leads out of the directory, or could"

// inside reports whether a link leads to a path within a directory, existing or not, and not into
// .git.
func inside(root *os.Root, name, target string) bool {
	if target == "" || path.IsAbs(target) {
		return false
	}
	down := false
	for part := range strings.SplitSeq(target, "/") {
		if part == ".." && down {
			return false // where that leads depends on other links, even on one that is landed later
		}
		down = down || part != ".." && part != "." && part != ""
	}
	to := path.Join(path.Dir(name), target)
	if !filepath.IsLocal(to) || git(to) {
		return false
	}
	_, err := root.Stat(path.Dir(name) + "/" + target)
	return err == nil || os.IsNotExist(err)
}

// sameNames returns the paths whose names are the same as another one's to a file system that
// ignores case and Unicode normal forms, each with that other path.
func sameNames(all ...note) map[string]string {
	first, twice := map[string]string{}, map[string]string{}
	for _, n := range all {
		for name := range n.nodes {
			key := fold(name)
			other, known := first[key]
			if !known {
				first[key] = name
			} else if other != name {
				twice[name], twice[other] = other, name
			}
		}
	}
	return twice
}

// fold returns the same spelling for all paths that are the same to such a file system.
func fold(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = hostexec.Fold(part)
	}
	return strings.Join(parts, "/")
}

// ignoresCase reports whether the file system of a directory ignores case.
func ignoresCase(dir string) bool {
	is, err := os.Lstat(dir)
	if err != nil {
		return false
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		other := strings.Map(swapCase, filepath.Base(at))
		if other == filepath.Base(at) {
			continue // a name without letters: try the directory above, which usually is on the same file system
		}
		if at != dir {
			if is, err = os.Lstat(at); err != nil {
				return false
			}
		}
		swapped, err := os.Lstat(filepath.Join(filepath.Dir(at), other))
		return err == nil && os.SameFile(is, swapped)
	}
	return false
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
