package gitx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLooked bounds the search for links in a repository.
const maxLooked = 100_000

// shallow are directories of a repository in which git reads or writes files. Their
// subdirectories are looked at elsewhere, or hold no links that matter.
var shallow = []string{"", "info", "objects", "objects/info", "objects/pack", "objects/pack/multi-pack-index.d", "objects/info/commit-graphs", "modules", "branches", "remotes"}

// deep are directories of a repository with names at any depth: git appends to
// the files of one and replaces those of another, and what stands in the rest
// comes out as a message, as the place of a work tree or as a resolved conflict.
var deep = []string{"logs", "refs", "worktrees", "rebase-merge", "rebase-apply", "sequencer", "rr-cache"}

// links returns the symbolic links of the repository itself. Git follows them
// when it reads and writes, so what they lead to is the repository's as well.
func (r *Repo) links() ([]string, error) {
	x := linkSearch{}
	roots := []string{r.GitDir}
	if r.CommonDir != r.GitDir {
		roots = append(roots, r.CommonDir)
	}
	for _, root := range roots {
		for _, dir := range shallow {
			if err := x.list(filepath.Join(root, dir)); err != nil {
				return nil, err
			}
		}
		if err := x.loose(filepath.Join(root, "objects")); err != nil {
			return nil, err
		}
		for _, dir := range deep {
			if err := x.walk(filepath.Join(root, dir)); err != nil {
				return nil, err
			}
		}
	}
	return x.found, nil
}

type linkSearch struct {
	found  []string
	looked int
}

var errTooMany = errors.New("the repository has too many files to look for links")

func (x *linkSearch) list(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errors.New("a directory of the repository cannot be listed")
	}
	for _, e := range entries {
		if x.looked++; x.looked > maxLooked {
			return errTooMany
		}
		if e.Type()&fs.ModeSymlink != 0 {
			x.found = append(x.found, filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// loose lists the objects that are files of their own: their directories are named by
// the first two digits of their hashes.
func (x *linkSearch) loose(objects string) error {
	entries, err := os.ReadDir(objects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("a directory of the repository cannot be listed")
	}
	for _, e := range entries {
		if len(e.Name()) == 2 && e.IsDir() {
			if err := x.list(filepath.Join(objects, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *linkSearch) walk(dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return errors.New("a directory of the repository cannot be listed")
		}
		if x.looked++; x.looked > maxLooked {
			return errTooMany
		}
		if name != dir && e.Type()&fs.ModeSymlink != 0 {
			x.found = append(x.found, name)
		}
		return nil
	})
}
