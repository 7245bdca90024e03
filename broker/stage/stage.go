package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// errChanged means that a target has changed since New.
var errChanged = errors.New("it has changed since the call was judged")

// Stage is a directory in which calls are carried out, one at a time. It has none of the host's
// files, so links in it cannot lead to any.
type Stage struct {
	root *os.Root
	plan *Plan         // of the call at hand
	laid []os.FileInfo // of the copies, by the plan's targets; nil if there was nothing to copy
	made []string      // directories to remove after the call, outermost first
}

// Open returns the stage in an existing directory that only this process can write to.
func Open(dir string) (*Stage, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the stage: %w", err)
	}
	return &Stage{root: root}, nil
}

// Close closes the stage. Its directory stays.
func (s *Stage) Close() error { return s.root.Close() }

// Prepare makes the directories in which the copies of a plan will be, as far as the originals exist.
// They stay after Clear, because the sandbox may have bound them.
func (s *Stage) Prepare(p *Plan) error {
	for _, dir := range p.Directories() {
		if err := s.mkdirAll(relative(dir)); err != nil {
			return fmt.Errorf("prepare the stage: %w", err)
		}
	}
	s.made = nil
	return nil
}

// Lay makes the copies of a plan. It fails if a file or its directory is not the one that was judged.
// Clear must follow, even after an error.
func (s *Stage) Lay(ctx context.Context, p *Plan) error {
	s.plan, s.laid = p, make([]os.FileInfo, len(p.targets))
	for i, t := range p.targets {
		if t.bound {
			continue
		}
		if err := s.lay(ctx, i, t); err != nil {
			return fmt.Errorf("prepare %s: %w", t.Path, err)
		}
	}
	return nil
}

func (s *Stage) lay(ctx context.Context, i int, t target) error {
	if err := s.mkdirAll(relative(t.base)); err != nil {
		return fault.WithoutPath(err)
	}
	dir, err := t.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	if t.found == nil {
		return nil
	}
	name := relative(t.Path)
	if t.found.IsDir() { // the call can only move or remove it: an empty directory represents it
		err = s.root.Mkdir(name, 0o700)
	} else {
		err = copyFile(ctx, dir, filepath.Base(t.Path), s.root, name, t.found, t.found.Mode().Perm())
	}
	if err == nil {
		s.laid[i], err = s.root.Lstat(name)
	}
	return err
}

// mkdirAll makes the directories of a path that are missing.
func (s *Stage) mkdirAll(path string) error {
	at := ""
	for _, name := range strings.Split(path, "/") {
		at = filepath.Join(at, name)
		switch err := s.root.Mkdir(at, 0o700); {
		case err == nil:
			s.made = append(s.made, at)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// Clear removes what the call left on the stage.
func (s *Stage) Clear(ctx context.Context) error {
	var errs []error
	if s.plan != nil {
		for _, t := range s.plan.targets {
			if !t.bound {
				errs = append(errs, dirtree.RemoveIn(ctx, s.root, relative(t.Path)))
			}
		}
	}
	for _, dir := range s.made {
		errs = append(errs, dirtree.RemoveIn(ctx, s.root, dir))
	}
	s.plan, s.laid, s.made = nil, nil, nil
	return errors.Join(errs...)
}

// relative returns an absolute path as the path below the stage's root.
func relative(path string) string { return strings.TrimPrefix(path, "/") }

// open opens the target's nearest existing parent directory, and checks that it and the target are
// those that were judged.
func (t *target) open() (*os.Root, error) {
	dir, err := os.OpenRoot(t.base)
	if err != nil {
		return nil, fault.WithoutPath(err)
	}
	if err := t.checkIn(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// checkIn checks that dir is the judged directory and contains the judged file.
func (t *target) checkIn(dir *os.Root) error {
	in, err := dir.Stat(".")
	if err != nil {
		return fault.WithoutPath(err)
	}
	if !os.SameFile(in, t.in) {
		return fmt.Errorf("the directory %s: %w", t.base, errChanged)
	}
	now, err := dir.Lstat(t.first())
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.found == nil:
		return nil
	case err != nil || t.found == nil || !os.SameFile(now, t.found):
		return errChanged
	case (t.Write || t.Delete) && !unchanged(now, t.found):
		return errChanged
	}
	return nil
}

// first returns the first name of the target's path below base.
func (t *target) first() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(t.Path, t.base), "/"), "/")
	return name
}

// unchanged reports whether a file is still the same one with the same content. Of directories it
// compares only the identity.
func unchanged(now, then os.FileInfo) bool {
	if !os.SameFile(now, then) || now.Mode().Type() != then.Mode().Type() {
		return false
	}
	return now.IsDir() || now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}
