package broker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// sweepLimit is how long looking for what others left behind may take.
const sweepLimit = 30 * time.Second

// sweeping is a sweep that has begun.
type sweeping struct {
	done chan struct{} // closed at its end
	left []SessionID   // afterwards: what LeftRunning tells
}

// Sweep begins to remove what was left behind by multiplexers that were killed:
// containers that have ended, on any home, and the sockets of this one. It never
// touches what a living process owns. Sessions that were not used for longer than
// the configuration keeps them go, too. All of that goes on beside the broker's
// work; what cannot be removed stays for the next time and is in the log. Sweep is
// called once. It reports whether agents of this home may have been left running:
// LeftRunning knows which.
func (b *Broker) Sweep() bool {
	s := &sweeping{done: make(chan struct{})}
	b.mu.Lock()
	b.sweeping = s
	b.mu.Unlock()
	dirs, err := stored.Leftovers(b.ctx, b.config.Home, false)
	b.work.Go(b.retire)
	b.work.Go(func() {
		defer close(s.done)
		s.left = b.sweep(b.ctx)
	})
	return len(dirs) > 0 || err != nil
}

// LeftRunning waits for the end of the sweep and returns the sessions of this
// home whose agents run although their multiplexers were killed: Open takes one
// back (OpenRequest.Resume) and Close ends it. It fails only with ctx.
func (b *Broker) LeftRunning(ctx context.Context) ([]SessionID, error) {
	b.mu.Lock()
	s := b.sweeping
	b.mu.Unlock()
	if s == nil {
		return nil, nil
	}
	select {
	case <-s.done:
		return s.left, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sweep is the work of Sweep that needs the engine.
func (b *Broker) sweep(ctx context.Context) []SessionID {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	engine, err := b.engine.get(ctx, b.config.UserHome)
	if err != nil {
		b.log.Warn("what killed multiplexers left could not be looked for", "error", err)
		return nil // agents may still run: nothing of theirs is removed
	}
	var left []SessionID
	running := map[string]bool{} // by directory below run/
	seen, err := engine.Reap(ctx, docker.ReapOptions{Keep: func(c docker.Summary) bool {
		id, home, ok := takeable(c)
		if ok && home == b.config.Home {
			left = append(left, id)
			running[filepath.Base(stored.LayoutOf(home, id).Run)] = true
		}
		return ok
	}})
	for _, r := range seen {
		if r.Removed {
			b.log.Info("removed the container of a session that was killed", "container", r.Name)
		}
	}
	dirs, errDirs := stored.LeftoversExcept(ctx, b.config.Home, true, running)
	for _, dir := range dirs {
		b.log.Info("removed the sockets of a session that was killed", "directory", dir)
	}
	if err == nil {
		err = b.sweepWaiting(ctx, left) // what waits may wait on where an agent still runs
	}
	if err := errors.Join(err, errDirs); err != nil {
		b.log.Warn("not everything that killed sessions left could be removed", "error", err)
	}
	return left
}

// takeable says of which session and home a container is, and whether somebody
// can still take it back: it runs, and its session's record exists.
func takeable(c docker.Summary) (id SessionID, home string, ok bool) {
	id = c.Labels[LabelSession]
	dir := filepath.Dir(c.Labels[docker.LabelLease])
	if !c.Running || !stored.ValidID(id) || filepath.Base(dir) != id {
		return "", "", false
	}
	home = filepath.Dir(filepath.Dir(dir))
	_, err := stored.ReadRecord(stored.LayoutOf(home, id))
	return id, home, err == nil
}

// retire removes the sessions that were kept for long enough.
func (b *Broker) retire() {
	removed, err := stored.Retire(b.ctx, b.config.Home, b.config.KeepSessions)
	for _, id := range removed {
		b.log.Info("removed a session that was not used any more", "session", id)
	}
	if err != nil {
		b.log.Warn("not every session that is not used any more could be removed", "error", err)
	}
	b.tellUnsettled()
}

// unsettledNamed is how many sessions are named in one notice.
const unsettledNamed = 3

// tellUnsettled says in which worktrees work may be that nobody has brought home.
func (b *Broker) tellUnsettled() {
	ids, err := stored.Unsettled(b.config.Home)
	if err != nil {
		b.log.Warn("worktrees could not be looked for", "error", err)
	}
	if len(ids) == 0 {
		return
	}
	var names []string
	for _, id := range ids[:min(len(ids), unsettledNamed)] {
		names = append(names, id[:8])
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	publisher{b}.Noticed(Notice{Text: fmt.Sprintf("no time was left to bring home the work of %s: 'ironcurtain-mux sessions resume' or 'sessions rm' goes on with it", strings.Join(names, ", "))})
}

// TakeableElsewhere reports whether a container whose owner was killed can be
// taken back by a multiplexer with another home.
func TakeableElsewhere(home string) func(docker.Summary) bool {
	return func(c docker.Summary) bool {
		_, theirs, ok := takeable(c)
		return ok && theirs != home
	}
}
