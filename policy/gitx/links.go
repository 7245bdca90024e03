package gitx

import (
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Bounds on the search for links, in names.
const (
	maxLooked    = 100_000       // of one repository
	maxAllLooked = 4 * maxLooked // of all repositories of one call
)

// shallow are directories of a repository in which git reads or writes files. The first is
// the repository itself. Their subdirectories are searched separately, or links in them do
// not matter.
var shallow = []string{"", "info", "objects", "objects/info", "objects/pack", "objects/pack/multi-pack-index.d", "objects/info/commit-graphs", "modules", "branches", "remotes"}

// deep are directories of a repository with files at any depth. Git appends to files in
// logs and replaces files in refs. It uses the contents of the others as messages, as paths
// of work trees, or as resolved conflicts.
var deep = []string{"logs", "refs", "worktrees", "rebase-merge", "rebase-apply", "sequencer", "rr-cache"}

// links returns the symbolic links inside the repository. Git follows them when it reads
// and writes, so their targets belong to the repository, too.
func (r *Repo) links() ([]string, error) {
	x := linkSearch{view: r.view}
	roots := []string{r.GitDir}
	if r.CommonDir != r.GitDir {
		roots = append(roots, r.CommonDir)
	}
	for _, root := range roots {
		var dirs []string // of the root
		for i, dir := range shallow {
			below, err := x.list(filepath.Join(root, dir))
			if err != nil {
				return nil, err
			}
			if i == 0 {
				dirs = below
			}
		}
		if err := x.loose(filepath.Join(root, "objects")); err != nil {
			return nil, err
		}
		for _, dir := range deep {
			if !slices.Contains(dirs, dir) {
				continue
			}
			if err := x.walk(filepath.Join(root, dir)); err != nil {
				return nil, err
			}
		}
	}
	return x.found, nil
}

type linkSearch struct {
	view   *View
	found  []string
	looked int
}

var (
	errTooMany  = errors.New("the repository has too many files to look for links")
	errUnlisted = errors.New("a directory of the repository cannot be listed")
)

// names returns the links and the directories in a directory.
func (x *linkSearch) names(dir string) ([]listed, error) {
	got := x.view.look(dir, asNames)
	x.looked += got.count
	x.view.looked += got.count
	switch {
	case x.looked > maxLooked || x.view.looked > maxAllLooked:
		return nil, errTooMany
	case errors.Is(got.err, errTooMany):
		return nil, errTooMany
	case got.err != nil || got.errno == unix.ENOTDIR:
		return nil, errUnlisted
	}
	return got.names, nil
}

// list finds the links in a directory and returns its directories.
func (x *linkSearch) list(dir string) (dirs []string, err error) {
	names, err := x.names(dir)
	for _, n := range names {
		if !n.link {
			dirs = append(dirs, n.name)
		} else if err := x.add(filepath.Join(dir, n.name)); err != nil {
			return nil, err
		}
	}
	return dirs, err
}

// add records a link.
func (x *linkSearch) add(name string) error {
	if x.view.kept += len(name); x.view.kept > maxKept {
		return errTooMany
	}
	x.found = append(x.found, name)
	return nil
}

// loose finds the links among the loose objects, which lie in directories named by the
// first two digits of their hashes.
func (x *linkSearch) loose(objects string) error {
	names, err := x.names(objects)
	if err != nil {
		return err
	}
	for _, n := range names {
		if len(n.name) == 2 && !n.link {
			if _, err := x.list(filepath.Join(objects, n.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk finds the links in a directory and in all directories below it.
func (x *linkSearch) walk(dir string) error {
	names, err := x.names(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		next := x.walk
		if n.link {
			next = x.add
		}
		if err := next(filepath.Join(dir, n.name)); err != nil {
			return err
		}
	}
	return nil
}
