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

// Remove removes a session that no process owns: its container if one still runs, its sockets, its
// agent's home, its sandbox, its audit and its volumes. It connects to the engine only if the
// session's multiplexer was killed, or for the volumes.
//
// Remove fails and keeps the session if another session works in this session's sandbox, and, unless
// the caller insists, if a worktree, a copy or a volume has work that is nowhere else. The volumes
// are removed last. If the engine cannot be reached, Remove fails, but the session is gone.
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

// remove removes a session without its volumes.
func remove(ctx context.Context, home string, l Layout, id ID, insist bool, engine func(context.Context) (*docker.Client, error)) error {
	if _, err := os.Lstat(l.Dir); err != nil {
		return fault.New("list the sessions with 'ironcurtain-mux sessions ls'", "there is no session %s", id)
	}
	lease, err := docker.AcquireLease(l.Lock())
	if errors.Is(err, docker.ErrLeaseHeld) {
		return fault.New("close its tab first", "session %s is open in a multiplexer", id)
	} else if err != nil {
		return err
	}
	if err = checkUnused(home, l, id); err == nil {
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

// errUsed means that another session depends on this one.
var errUsed = errors.New("works in its directory")

// checkUnused fails if another session works below the directory of this one.
func checkUnused(home string, l Layout, id ID) error {
	all, err := List(home, nil)
	if err != nil {
		return err
	}
	dir := RealPath(l.Dir) + "/"
	for _, s := range all {
		if s.ID != id && strings.HasPrefix(s.Workspace, dir) {
			return fault.New("remove session "+ShortID(s.ID)+" first", "session %s %w", s.ID, errUsed)
		}
	}
	return nil
}

// removeOwned removes everything of a session except its lease and its directory. It removes the
// record last, so that a session that could not be removed is still listed and can be removed again.
func removeOwned(ctx context.Context, home string, l Layout, id ID, insist bool, engine func(context.Context) (*docker.Client, error)) error {
	if WasKilled(l) {
		client, err := engine(ctx)
		if err != nil {
			return err
		}
		if err := client.RemoveLabeled(ctx, map[string]string{LabelSession: id}); err != nil {
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

// Retire removes the stored sessions that were not used for that long, except those that still run
// or may be taken back. Their volumes stay for SweepVolumes. It continues after a failure and reports
// all failures. It removes nothing if age is not positive.
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
	for _, s := range all { // a session that works in another one's sandbox was used later, and comes first
		if s.Owned || s.Detached || time.Since(s.LastActivity) < age || ctx.Err() != nil {
			continue
		}
		err := remove(ctx, home, LayoutOf(home, s.ID), s.ID, false, func(context.Context) (*docker.Client, error) {
			return nil, errors.New("the session runs again")
		})
		switch {
		case errors.Is(err, errUsed): // it is removed after the session that works there
		case err != nil:
			failures = append(failures, err)
		default:
			removed = append(removed, s.ID)
		}
	}
	return removed, errors.Join(failures...)
}
