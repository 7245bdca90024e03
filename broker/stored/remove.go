package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Remove deletes a session that no process owns: its container if one
// still runs, its sockets, its agent's home, its sandbox and its audit. The
// engine is asked for only when the session's multiplexer was killed. A sandbox in
// which another session works, one that was begun anew there, is kept, and the session
// with it; so is a worktree or a copy with work that is nowhere else, unless the caller insists.
//
// Of a session whose files an engine has in volumes these are removed last. That fails where the
// engine cannot be reached; the session is gone nevertheless.
func Remove(ctx context.Context, home string, id ID, insist bool, engine func(context.Context) (*docker.Client, error)) error {
	if !ValidID(id) {
		return fmt.Errorf("%q is not the id of a session", id)
	}
	l := LayoutOf(home, id)
	addresses, err := l.volumes().all()
	if err != nil {
		return fmt.Errorf("find the session's volumes: %w", err)
	}
	if err := remove(ctx, home, l, id, insist, engine); err != nil {
		return err
	}
	for _, address := range addresses {
		if failed := dropVolumes(ctx, l, id, address, engine); failed != nil {
			err = errors.Join(err, fault.New("run 'ironcurtain-mux gc --engine "+address+"' later", "session %s is removed, but not its volumes: %w", id, failed))
		}
	}
	return err
}

// remove is Remove without the volumes.
func remove(ctx context.Context, home string, l Layout, id ID, insist bool, engine func(context.Context) (*docker.Client, error)) error {
	if _, err := os.Lstat(l.Dir); err != nil {
		return fault.New("list them with 'ironcurtain-mux sessions ls'", "there is no session %s", id)
	}
	lease, err := docker.AcquireLease(l.Lock())
	if errors.Is(err, docker.ErrLeaseHeld) {
		return fault.New("close its tab first", "session %s is open in a multiplexer", id)
	} else if err != nil {
		return err
	}
	if err = unused(home, l, id); err == nil {
		err = removeOwned(ctx, home, l, id, insist, engine)
	}
	if released := lease.Release(); !errors.Is(released, fs.ErrNotExist) {
		err = errors.Join(err, released)
	}
	if err == nil {
		err = os.Remove(l.Dir)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	return nil
}

// errUsed is the error for a session that another one depends on.
var errUsed = errors.New("works in its directory")

// unused returns an error if another session works below the directory of this one.
func unused(home string, l Layout, id ID) error {
	all, err := List(home, nil)
	if err != nil {
		return err
	}
	dir := RealPath(l.Dir) + "/"
	for _, s := range all {
		if s.ID != id && strings.HasPrefix(s.Workspace, dir) {
			return fault.New("remove that one first", "session %s %w", s.ID, errUsed)
		}
	}
	return nil
}

// removeOwned removes everything of a session except its lease and the lease's directory.
// It removes the record last, so that a session whose removal failed is still listed and
// can be removed again.
func removeOwned(ctx context.Context, home string, l Layout, id ID, insist bool, engine func(context.Context) (*docker.Client, error)) error {
	if WasKilled(l) {
		client, err := engine(ctx)
		if err != nil {
			return err
		}
		if _, err := client.RemoveLabeled(ctx, map[string]string{LabelSession: id}); err != nil {
			return err
		}
	}
	if err := RemoveRun(ctx, l.Run); err != nil {
		return err
	}
	if r, err := ReadRecord(l); err == nil { // without a record there is no worktree and no copy
		if err := errors.Join(checkAway(l, r, insist), checkCopy(ctx, l, r, insist)); err != nil {
			return err
		}
		if err := RemoveMade(home, l, r.Session); err != nil {
			return err
		}
		if err := dropWorktree(ctx, l, r, insist); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(l.Dir, e.Name())
		if path == l.Lock() || path == l.Record() {
			continue
		}
		if err := dirtree.Remove(ctx, path); err != nil {
			return err
		}
	}
	if err := os.Remove(l.Record()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Retire removes the stored sessions that were not used for that long, except those that
// still run or may be taken back. Their volumes stay for SweepVolumes. It goes on after a failure and reports all failures. It
// removes nothing when age is not positive.
func Retire(ctx context.Context, home string, age time.Duration) ([]ID, error) {
	if age <= 0 {
		return nil, nil
	}
	all, err := List(home, nil)
	if err != nil {
		return nil, err
	}
	var removed []ID
	var failures []error
	for _, s := range all { // what was begun anew in a sandbox comes before its first session
		if s.Owned || s.Detached || time.Since(s.LastActivity) < age || ctx.Err() != nil {
			continue
		}
		err := remove(ctx, home, LayoutOf(home, s.ID), s.ID, false, func(context.Context) (*docker.Client, error) {
			return nil, errors.New("it runs again")
		})
		switch {
		case errors.Is(err, errUsed): // it goes after the session that works there
		case err != nil:
			failures = append(failures, err)
		default:
			removed = append(removed, s.ID)
		}
	}
	return removed, errors.Join(failures...)
}
