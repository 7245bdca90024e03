package gitx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLooked bounds the search for links in a repository.
const maxLooked = 100_000

// shallow are directories of a repository in whose files git writes and whose
// own directories are looked at elsewhere or hold no links that matter.
var shallow = []string{"", "info", "objects", "objects/info", "objects/pack", "worktrees", "modules"}

// deep are directories of a repository with names at any depth: git appends to
// the files of one and replaces those of the other.
var deep = []string{"logs", "refs"}

// links returns the symbolic links of the repository itself. Git follows them
// when it writes, so what they lead to is the repository's as well.
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
