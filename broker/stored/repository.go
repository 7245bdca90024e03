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

// ReadOnlyParts are the parts of a repository that are read-only in the container and may be missing
// ('git init --template=' makes no hooks). A missing part cannot be mounted, so the agent could make
// it. Therefore it is made, empty, which means the same to git, and removed when no session works
// there any more.
var ReadOnlyParts = []string{".git/config", ".git/hooks"}

// Repository is the repository of a workspace, which sessions share. A part that is mounted in one
// of their containers must not be removed, because the kernel would undo the mount.
type Repository struct {
	root *os.Root
	dir  *os.File // .git, with the lock that sessions share
}

// HoldRepository opens the repository of a workspace. It returns nil if there is none whose parts
// could be mounted.
func HoldRepository(workspace string) (*Repository, error) {
	if !PlainPath(workspace, ".git") || IsFile(filepath.Join(workspace, ".git")) {
		return nil, nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	dir, err := root.OpenFile(".git", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the repository: %w", err), root.Close())
	}
	return &Repository{root: root, dir: dir}, nil
}

// Share locks the repository together with other sessions, so that nobody removes the parts that the
// session finds there. If it cannot get the lock within a second, an agent has it; that, too, keeps
// others from removing anything.
func (r *Repository) Share(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := unix.Flock(int(r.dir.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Missing returns the ReadOnlyParts that the repository does not have.
func (r *Repository) Missing() []string {
	return slices.DeleteFunc(slices.Clone(ReadOnlyParts), func(name string) bool {
		_, err := r.root.Lstat(name)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// empty reports whether a part is an empty file or directory.
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

// Make makes the missing parts, empty. They belong to the owner of the repository.
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
			return fault.New("make an empty one yourself, or use a workspace without the repository",
				"%s is missing and could not be made, so the agent could make it: %w", filepath.Join(r.root.Name(), name), err)
		}
	}
	return nil
}

// Release removes the parts that Make has made and that are still empty, unless another session
// works there. It removes nothing if mine is false.
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

// RemoveMade removes the parts that were made for a session whose multiplexer was killed, unless
// another session works there.
func RemoveMade(home string, l Layout, r Session) error {
	kept, err := obeyed.Kept(l.Obeyed())
	if err != nil || len(kept.Made) == 0 {
		return nil //nolint:nilerr // without a record, nothing is known to be made by us
	}
	held, err := HoldRepository(r.Workspace)
	if err != nil || held == nil {
		return nil //nolint:nilerr // the repository is gone or was replaced
	}
	return held.Release(kept.Made, !OthersDetached(home, r))
}

// OthersDetached reports whether the agent of another session whose multiplexer was killed
// may still work in the workspace.
func OthersDetached(home string, s Session) bool {
	all, err := others(home, s)
	return err != nil || slices.ContainsFunc(all, func(other Entry) bool { return other.Detached })
}

// MadeForOthers returns the parts that were made for other sessions in the workspace. The last
// session that works there removes them.
func MadeForOthers(home string, s Session) ([]string, error) {
	all, err := others(home, s)
	var made []string
	for _, other := range all {
		if other.Owned || other.Detached {
			kept, _ := obeyed.Kept(LayoutOf(home, other.ID).Obeyed()) // without a record it has made nothing
			made = append(made, kept.Made...)
		}
	}
	return made, err
}

// others returns the other sessions of s's workspace.
func others(home string, s Session) ([]Entry, error) {
	all, err := List(home, nil)
	return slices.DeleteFunc(all, func(other Entry) bool {
		return other.ID == s.ID || other.Workspace != s.Workspace
	}), err
}

// IsFile reports whether a path names a regular file, not a link.
func IsFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// PlainPath reports whether name exists below dir and no part of it is a link.
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
