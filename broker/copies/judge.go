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
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

// judge says of each change whether it can be landed, and whether programs of this machine
// would run it. A directory is judged before what is in it.
func (d *Diff) judge() error {
	here, err := openDirs(d.copy)
	if err != nil {
		return err
	}
	defer here.close()
	there, err := openOrigin(d.Origin)
	if err != nil {
		return err
	}
	defer there.close()
	at := map[string]*Change{}
	for i := range d.Changes {
		c := &d.Changes[i]
		at[c.Path] = c
		if c.Stays == "" {
			c.Stays, c.Conflict = d.stays(c, at, here, there)
		}
		if c.here.kind == file || c.here.kind == link {
			c.Runs = cmp.Or(
				hostexec.Path("./"+c.Path, func(name string) bool { return exists(there, name) }),
				hostexec.Path("./"+c.Path, func(name string) bool { return exists(here, name) || exists(there, name) }))
		}
	}
	return nil
}

// Mark notes also what git would run because of how it is configured in the directory and, in a
// home directory, by the person.
func (d *Diff) Mark(ctx context.Context, userHome string) error {
	names, err := obeyed.Name(ctx, d.Origin, userHome)
	if err != nil {
		return err
	}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Runs == "" && (c.here.kind == file || c.here.kind == link) {
			c.Runs = names.Why(c.Path)
		}
	}
	if names.Missed != "" {
		d.Unmarked = names.Missed
	}
	return nil
}

// exists reports whether something is at a path.
func exists(in *dirs, name string) bool {
	_, err := in.root.Lstat(path.Clean(name))
	return err == nil
}

// stays says why a change cannot be landed, and whether that is a conflict.
func (d *Diff) stays(c *Change, at map[string]*Change, here, there *dirs) (why string, conflict bool) {
	origin := dirtree.Short(d.Origin)
	switch {
	case c.here.kind == special:
		return "it is a device, pipe or socket, larger than " + text.Size(usual.each) + ", or cannot be read", false
	case !c.base.same(c.there) && c.base.kind == nothing:
		return fmt.Sprintf("%s has %s of that name now", origin, c.there.kind), true
	case !c.base.same(c.there) && c.there.kind == nothing:
		return "it was deleted in " + origin + ", too", true
	case !c.base.same(c.there):
		return "it was changed in " + origin + ", too", true
	case c.here.kind == nothing:
		return "", false
	}
	parents(c.Path, func(dir string) bool {
		if above := at[dir]; above != nil {
			if above.Stays != "" {
				why, conflict = dirtree.Short(dir)+" stays", above.Conflict
			}
			return false
		}
		switch is, _, err := there.look(dir, noted{}); {
		case err != nil:
			why = fmt.Sprintf("%s cannot be read in %s: %v", dirtree.Short(dir), origin, cause(err))
		case is.kind == nothing:
			return true // it is made again
		case is.kind != directory:
			why, conflict = fmt.Sprintf("%s is %s in %s now", dirtree.Short(dir), is.kind, origin), true
		}
		return false
	})
	if why == "" && c.here.kind == link && !(inside(here.root, c.Path, c.here.target) && inside(there.root, c.Path, c.here.target)) {
		why = leadsOut
	}
	return why, conflict
}

// leadsOut is why a link stays.
const leadsOut = "the link leads out of the directory, or could"

// inside reports whether a link leads to something in a directory, or to a path in it where
// nothing is, and not to what is git's own.
func inside(root *os.Root, name, target string) bool {
	if target == "" || path.IsAbs(target) {
		return false
	}
	down := false
	for part := range strings.SplitSeq(target, "/") {
		if part == ".." && down {
			return false // where that is depends on links on the way, also on one that is landed later
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

// merged returns the paths whose names a disk that ignores case, or how letters are composed,
// takes for the name of another path in the copy, each with that other path.
func merged(all ...note) map[string]string {
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

// fold is the one spelling of all those that such a disk takes for the same path.
func fold(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = hostexec.Fold(part)
	}
	return strings.Join(parts, "/")
}

// folds reports whether the disk of a directory ignores the case of names.
func folds(dir string) bool {
	is, err := os.Lstat(dir)
	if err != nil {
		return false
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		other := strings.Map(swapCase, filepath.Base(at))
		if other == filepath.Base(at) {
			continue // a name without letters; the disk of the directory above is the same, usually
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
