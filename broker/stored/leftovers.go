package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// runName is the name of a session's directory below run/: the first two groups
// of its id.
var runName = regexp.MustCompile(`^([0-9a-f]{8})([0-9a-f]{4})$`)

// Leftovers returns the directories below run/ of sessions that no process owns, and removes them if
// remove is set. It continues after a failure and reports all failures.
func Leftovers(ctx context.Context, home string, remove bool) ([]string, error) {
	return LeftoversExcept(ctx, home, remove, nil)
}

// LeftoversExcept is like Leftovers, but leaves out the directories whose agents still run, which
// running names.
func LeftoversExcept(ctx context.Context, home string, remove bool, running map[string]bool) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(home, "run"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for leftovers: %w", err)
	}
	var left []string
	var all []error
	for _, e := range entries {
		name := runName.FindStringSubmatch(e.Name())
		if name == nil || running[e.Name()] {
			continue
		}
		dir := filepath.Join(home, "run", e.Name())
		abandoned, err := abandon(filepath.Join(home, "sessions", name[1]+"-"+name[2]+"-*"), func() error {
			if !remove {
				return nil
			}
			return RemoveRun(ctx, dir)
		})
		if err != nil {
			all = append(all, fmt.Errorf("remove %s: %w", dir, err))
		} else if abandoned {
			left = append(left, dir)
		}
	}
	return left, errors.Join(all...)
}

// RemoveRun removes a directory below run/, the temporary directory that it links to, and the secret
// in the kernel's keyring.
func RemoveRun(ctx context.Context, dir string) error {
	DropSecret(dir)
	return errors.Join(RemoveScratch(ctx, dir), dirtree.Remove(ctx, dir))
}

// RemoveScratch removes the temporary directory of a session's sandboxes and the link to it, if a
// former life of the session has left them.
func RemoveScratch(ctx context.Context, run string) error {
	link := Layout{Run: run}.Scratch()
	scratch, err := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(dirtree.Remove(ctx, scratch), os.Remove(link))
}

// abandon calls do while no process can own the sessions whose directories match. It returns false
// if a process owns one of them. A session acquires its lease before it makes anything below run/,
// so a session that is being made is owned.
func abandon(pattern string, do func() error) (done bool, err error) {
	sessions, err := filepath.Glob(pattern)
	if err != nil {
		return false, err
	}
	for _, dir := range sessions {
		lease, err := docker.AcquireLease(filepath.Join(dir, leaseName))
		if errors.Is(err, docker.ErrLeaseHeld) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer func() { _ = lease.Release() }()
	}
	return true, do()
}
