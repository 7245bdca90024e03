package gitx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxModules is how many nested repositories are looked at.
const maxModules = 256

// Nested returns the repositories that git looks into while it works on this one: those at
// the paths of gitlinks in the index, those in the modules directory, and the nested
// repositories of all of these.
func (r *Repo) Nested() ([]*Repo, error) {
	s := nestedSearch{view: r.view, seen: map[string]bool{}}
	err := s.below(r, 0)
	return s.found, err
}

type nestedSearch struct {
	view   *View
	seen   map[string]bool // by the repository's directory
	found  []*Repo
	looked int // paths at which a repository could be
}

var errModules = refuse("the repository has too many submodules to check")

// look counts a path at which a repository could be.
func (s *nestedSearch) look() error {
	if s.looked++; s.looked > maxGitlinks {
		return errModules
	}
	return s.view.ended()
}

func (s *nestedSearch) below(r *Repo, depth int) error {
	if depth > 8 {
		return refuse("the repository has submodules too deep to check")
	}
	kept, err := s.moduleDirs(filepath.Join(r.CommonDir, "modules"), 0)
	if err != nil {
		return err
	}
	for _, dir := range kept {
		if err := s.add(&Repo{GitDir: dir}, depth); err != nil {
			return err
		}
	}
	if r.WorkTree == "" {
		return nil
	}
	places, err := r.gitlinks()
	if err != nil {
		return err
	}
	for _, place := range places {
		if err := s.look(); err != nil {
			return err
		}
		own, err := openAt(filepath.Join(r.WorkTree, place))
		if err != nil {
			return err
		}
		if own == nil {
			continue
		}
		if err := s.add(own, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *nestedSearch) add(r *Repo, depth int) error {
	key := filepath.Clean(r.GitDir)
	if s.seen[key] {
		return nil
	}
	if s.seen[key] = true; len(s.seen) > maxModules {
		return errModules
	}
	if err := s.view.complete(r); err != nil {
		return err
	}
	s.found = append(s.found, r)
	return s.below(r, depth+1)
}

// openAt returns the repository whose work tree is exactly dir, or nil.
func openAt(dir string) (*Repo, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return nil, nil
	case !info.IsDir():
		gitDir, err := gitFile(dotGit)
		return &Repo{WorkTree: dir, GitDir: gitDir, place: dir}, err
	}
	if is, err := isGitDir(dotGit); err != nil || !is {
		return nil, err
	}
	return &Repo{WorkTree: dir, GitDir: dotGit, place: dir}, nil
}

// moduleDirs returns the repositories below a modules directory. Names of submodules may
// contain slashes, so it also searches directories that are not a repository.
func (s *nestedSearch) moduleDirs(dir string, depth int) ([]string, error) {
	entries, err := list(dir, maxModules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, errTooMany):
		return nil, errModules
	}
	if err != nil {
		return nil, refuse("the submodules cannot be listed")
	}
	if depth > 8 || len(entries) > maxModules {
		return nil, errModules
	}
	var out []string
	for _, e := range entries {
		if err := s.look(); err != nil {
			return nil, err
		}
		sub := filepath.Join(dir, e.Name())
		if !isDir(sub) {
			continue
		}
		is, err := isGitDir(sub)
		if err != nil {
			return nil, err
		}
		if is {
			out = append(out, sub)
			continue
		}
		more, err := s.moduleDirs(sub, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}
