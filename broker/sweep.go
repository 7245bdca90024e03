package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// sweepLimit is how long a start may spend on what others left behind.
const sweepLimit = 30 * time.Second

// Sweep removes what was left behind by multiplexers that were killed:
// containers whose owner has ended, on any home, and the sockets of this one.
// It never touches what a living process owns. Sessions that were not used for
// longer than the configuration keeps them go meanwhile, beside the broker's
// work. What cannot be removed stays for the next time and is in the log.
func (b *Broker) Sweep(ctx context.Context) {
	b.work.Go(b.retire)
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	engine, err := b.engine.get(ctx, b.config.UserHome)
	if err == nil {
		var seen []docker.Reaped
		seen, err = engine.Reap(ctx, docker.ReapOptions{})
		for _, r := range seen {
			if r.Removed {
				b.log.Info("removed the container of a session that was killed", "container", r.Name)
			}
		}
	}
	left, errLeft := Leftovers(b.config.Home, true)
	for _, dir := range left {
		b.log.Info("removed the sockets of a session that was killed", "directory", dir)
	}
	if err := errors.Join(err, errLeft, b.sweepWaiting(ctx)); err != nil {
		b.log.Warn("not everything that killed sessions left could be removed", "error", err)
	}
}

// retire removes the sessions that were kept for long enough.
func (b *Broker) retire() {
	removed, err := Retire(b.ctx, b.config.Home, b.config.KeepSessions)
	for _, id := range removed {
		b.log.Info("removed a session that was not used any more", "session", id)
	}
	if err != nil {
		b.log.Warn("not every session that is not used any more could be removed", "error", err)
	}
}

// runName is the name of a session's directory below run/: the first two groups
// of its id.
var runName = regexp.MustCompile(`^([0-9a-f]{8})([0-9a-f]{4})$`)

// Leftovers returns the directories below run/ of sessions that no process owns
// any more, and removes them when asked to. It goes on after a failure and
// reports all of them.
func Leftovers(home string, remove bool) ([]string, error) {
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
		if name == nil {
			continue
		}
		dir := filepath.Join(home, "run", e.Name())
		abandoned, err := abandon(filepath.Join(home, "sessions", name[1]+"-"+name[2]+"-*"), func() error {
			if !remove {
				return nil
			}
			return removeRun(dir)
		})
		if err != nil {
			all = append(all, fmt.Errorf("remove %s: %w", dir, err))
		} else if abandoned {
			left = append(left, dir)
		}
	}
	return left, errors.Join(all...)
}

// removeRun removes a directory below run/ together with the temporary directory
// it links to.
func removeRun(dir string) error {
	scratch, err := os.Readlink(layout{run: dir}.scratch())
	if err == nil {
		err = os.RemoveAll(scratch)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// abandon calls do while nobody can own the sessions whose directories match,
// or reports false when one of them is owned. A session takes its lease before
// it makes anything below run/, so one that is just being made is owned.
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
