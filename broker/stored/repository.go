package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ReadOnlyParts are the parts of a repository that are read-only in the container, and
// that a repository can lack ('git init --template=' makes no hooks). What is not there
// cannot be mounted, and the agent would make it; so it is made, empty, which git takes
// for the same, and removed when no session works there any more.
var ReadOnlyParts = []string{".git/config", ".git/hooks"}

// Repository holds the repository of a workspace, together with other sessions
// that work there. What is mounted in one of their containers must not be removed: the
// kernel would undo the mount.
type Repository struct {
	root *os.Root
	dir  *os.File // .git, locked for all of them
}

// HoldRepository opens the repository of a workspace, or returns nil where there is none
// whose parts could be mounted.
func HoldRepository(workspace string) (*Repository, error) {
	if !PlainPath(workspace, ".git") || IsFile(filepath.Join(workspace, ".git")) {
		return nil, nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("look at the repository: %w", err)
	}
	dir, err := root.OpenFile(".git", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at the repository: %w", err), root.Close())
	}
	return &Repository{root: root, dir: dir}, nil
}

// Share holds the repository, so that nobody removes what the session finds there. A
// Lock that cannot be had within a second is an agent's, and keeps others from removing
// anything just as well.
func (r *Repository) Share(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := unix.Flock(int(r.dir.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Missing is what the repository does not have.
func (r *Repository) Missing() []string {
	return slices.DeleteFunc(slices.Clone(ReadOnlyParts), func(name string) bool {
		_, err := r.root.Lstat(name)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// empty reports whether nothing is in what was made beforehand.
func (r *Repository) empty(name string) bool {
	info, err := r.root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err == nil && info.Mode().IsRegular() && info.Size() == 0
	}
	dir, err := r.root.Open(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) == 0
}

// Make makes what the repository lacks, for the person whose repository it is.
func (r *Repository) Make(lacks []string) error {
	owner, err := r.dir.Stat()
	if err != nil {
		return err
	}
	for _, name := range lacks {
		if name == ".git/hooks" {
			err = r.root.Mkdir(name, 0o755)
		} else {
			var f *os.File
			if f, err = r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
				err = f.Close()
			}
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.EROFS) {
			continue // where nobody can write, no agent can either
		}
		if err == nil && os.Geteuid() == 0 {
			err = giveTo(r.root, name, owner)
		}
		if err != nil {
			return fault.New("make it yourself, empty, or leave the repository out",
				"%s is missing, and cannot be made so that the agent does not: %w", filepath.Join(r.root.Name(), name), err)
		}
	}
	return nil
}

// Release removes what was made beforehand and is as it was made, unless another session
// works there.
func (r *Repository) Release(made []string, mine bool) error {
	var all []error
	if mine && unix.Flock(int(r.dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		for _, name := range slices.Backward(made) {
			if r.empty(name) {
				all = append(all, r.root.Remove(name))
			}
		}
	}
	return errors.Join(append(all, r.dir.Close(), r.root.Close())...)
}

// RemoveMade removes what was made beforehand for a session that a killed multiplexer
// had, unless somebody else works there.
func RemoveMade(home string, l Layout, r Session) error {
	kept, err := obeyed.Kept(l.Obeyed())
	if err != nil || len(kept.Made) == 0 {
		return nil //nolint:nilerr // then nothing is known to be ours
	}
	held, err := HoldRepository(r.Workspace)
	if err != nil || held == nil {
		return nil //nolint:nilerr // it is gone, or not the person's any more
	}
	return held.Release(kept.Made, !OthersDetached(home, r))
}

// OthersDetached reports whether the agent of another session whose multiplexer was killed
// may still work in the workspace.
func OthersDetached(home string, s Session) bool {
	all, err := others(home, s)
	return err != nil || slices.ContainsFunc(all, func(other Entry) bool { return other.Detached })
}

// MadeForOthers is what was made beforehand for other sessions in the workspace. The last one
// that works there removes it.
func MadeForOthers(home string, s Session) ([]string, error) {
	all, err := others(home, s)
	var made []string
	for _, other := range all {
		if other.Owned || other.Detached {
			kept, _ := obeyed.Kept(LayoutOf(home, other.ID).Obeyed()) // without one it made nothing
			made = append(made, kept.Made...)
		}
	}
	return made, err
}

// others are the other sessions of a workspace.
func others(home string, s Session) ([]Entry, error) {
	all, err := List(home, nil)
	return slices.DeleteFunc(all, func(other Entry) bool {
		return other.ID == s.ID || other.Workspace != s.Workspace
	}), err
}

// IsFile reports whether a path names a file and not a link.
func IsFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// PlainPath reports whether name is below dir, without a link on the way.
func PlainPath(dir, name string) bool {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
