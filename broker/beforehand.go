package broker

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

// beforehand are the parts of a repository that are read-only in the container, and
// that a repository can lack ('git init --template=' makes no hooks). What is not there
// cannot be mounted, and the agent would make it; so it is made, empty, which git takes
// for the same, and removed when no session works there any more.
var beforehand = []string{".git/config", ".git/hooks"}

// sharedRepository holds the repository of a workspace, together with other sessions
// that work there. What is mounted in one of their containers must not be removed: the
// kernel would undo the mount.
type sharedRepository struct {
	root *os.Root
	dir  *os.File // .git, locked for all of them
}

// holdRepository opens the repository of a workspace, or returns nil where there is none
// whose parts could be mounted.
func holdRepository(workspace string) (*sharedRepository, error) {
	if !plainPath(workspace, ".git") || isFile(filepath.Join(workspace, ".git")) {
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
	return &sharedRepository{root: root, dir: dir}, nil
}

// share holds the repository, so that nobody removes what the session finds there. A
// lock that cannot be had within a second is an agent's, and keeps others from removing
// anything just as well.
func (r *sharedRepository) share(ctx context.Context) error {
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

// lacks is what the repository does not have.
func (r *sharedRepository) lacks() []string {
	return slices.DeleteFunc(slices.Clone(beforehand), func(name string) bool {
		_, err := r.root.Lstat(name)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// empty reports whether nothing is in what was made beforehand.
func (r *sharedRepository) empty(name string) bool {
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

// make makes what the repository lacks, for the person whose repository it is.
func (r *sharedRepository) make(lacks []string) error {
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

// release removes what was made beforehand and is as it was made, unless another session
// works there.
func (r *sharedRepository) release(made []string, mine bool) error {
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

// forgetMade removes what was made beforehand for a session that a killed multiplexer
// had, unless somebody else works there.
func forgetMade(home string, l layout, r Session) error {
	kept, err := obeyed.Kept(l.obeyed())
	if err != nil || len(kept.Made) == 0 {
		return nil //nolint:nilerr // then nothing is known to be ours
	}
	held, err := holdRepository(r.Workspace)
	if err != nil || held == nil {
		return nil //nolint:nilerr // it is gone, or not the person's any more
	}
	return held.release(kept.Made, !leftThere(home, r))
}

// leftThere reports whether the agent of another session whose multiplexer was killed
// may still work in the workspace.
func leftThere(home string, s Session) bool {
	all, err := alsoThere(home, s)
	return err != nil || slices.ContainsFunc(all, func(other StoredSession) bool { return other.Detached })
}

// madeThere is what was made beforehand for other sessions in the workspace. The last one
// that works there removes it.
func madeThere(home string, s Session) ([]string, error) {
	all, err := alsoThere(home, s)
	var made []string
	for _, other := range all {
		if other.Owned || other.Detached {
			kept, _ := obeyed.Kept(layoutOf(home, other.ID).obeyed()) // without one it made nothing
			made = append(made, kept.Made...)
		}
	}
	return made, err
}

// alsoThere are the other sessions of a workspace.
func alsoThere(home string, s Session) ([]StoredSession, error) {
	all, err := Stored(home, nil)
	return slices.DeleteFunc(all, func(other StoredSession) bool {
		return other.ID == s.ID || other.Workspace != s.Workspace
	}), err
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// plainPath reports whether name is below dir, without a link on the way.
func plainPath(dir, name string) bool {
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
