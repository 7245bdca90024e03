package learn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// workName is the directory of the state below which tools run, each in an empty directory: they also
// read settings from the directory in which they run, and from those above it. A process locks it
// while a tool runs there.
const workName = "learning"

// empty makes an empty directory for a tool; done removes it.
func (h Host) empty() (dir string, done func(), err error) {
	all := filepath.Join(h.Dir, workName)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, err
	}
	lock := flock.New(all, flock.SetFlag(os.O_RDONLY))
	if err := lock.RLock(); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(all, "ask-"); err != nil {
		return "", nil, errors.Join(err, lock.Close())
	}
	return dir, func() { _ = errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// Leftovers returns the directories that processes which were killed while they asked tools have left
// in a state directory, and removes them if remove is set. While a process asks tools, there are none.
func Leftovers(home string, remove bool) (left []string, err error) {
	const op = "look for leftovers"
	all := filepath.Join(home, workName)
	lock := flock.New(all, flock.SetFlag(os.O_RDONLY))
	alone, err := lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", op, err)
	case !alone:
		return nil, nil
	}
	defer func() { _ = lock.Close() }()
	entries, err := os.ReadDir(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var failed []error
	for _, e := range entries {
		dir := filepath.Join(all, e.Name())
		if remove {
			if err := os.RemoveAll(dir); err != nil {
				failed = append(failed, err)
				continue
			}
		}
		left = append(left, dir)
	}
	return left, errors.Join(failed...)
}
