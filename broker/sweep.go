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

// sweepLimit is how long a sweep may take.
const sweepLimit = 30 * time.Second

// sweeping is the state of a sweep that was started.
type sweeping struct {
	done chan struct{} // closed when the sweep has ended
	left []SessionID   // what LeftRunning returns; set before done is closed
}

// Sweep starts to remove what killed multiplexers left behind: ended containers of any home,
// sockets of this home, and volumes whose sessions of this home are gone. It never touches what a
// running process owns. It also removes the sessions that were not used for longer than the
// configuration keeps them. The work is done in the background; a failure is logged, and the next
// Sweep tries again. Sweep may be called only once. It reports whether agents of this home may
// still run; LeftRunning returns which.
func (b *Broker) Sweep() bool {
	s := &sweeping{done: make(chan struct{})}
	b.mu.Lock()
	b.sweeping = s
	b.mu.Unlock()
	dirs, err := stored.Leftovers(b.ctx, b.config.Home, false)
	b.work.Go(b.removeUnused)
	b.work.Go(func() {
		defer close(s.done)
		s.left = b.sweep(b.ctx)
	})
	return len(dirs) > 0 || err != nil
}

// LeftRunning waits for the end of the sweep. It returns the sessions of this home whose agents
// still run although their multiplexers were killed, and the conversations with the built-in agent,
// which a new process continues. Open takes such a session back (OpenRequest.Resume), and Close
// ends it. It fails only when ctx ends.
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

// TakeBack takes back every session that LeftRunning returns. It ends those without a terminal,
// because nobody waits for their tasks any more. It returns an error for those that it could not
// open or end; the person can try again.
func (b *Broker) TakeBack(ctx context.Context) error {
	left, err := b.LeftRunning(ctx)
	if err != nil {
		return err
	}
	var all []error
	for _, id := range left {
		if r, err := stored.ReadRecord(stored.LayoutOf(b.config.Home, id)); err == nil && r.NoTerminal {
			if err := b.Close(ctx, id); err != nil {
				all = append(all, fmt.Errorf("end session %s: %w", id, err))
			}
			continue
		}
		if _, err := b.Open(ctx, OpenRequest{Resume: id, Cols: 80, Rows: 24}); err != nil {
			all = append(all, fmt.Errorf("take back session %s: %w", id, err))
		}
	}
	return errors.Join(all...)
}

// sweep does the part of Sweep that needs the engine, and returns the sessions whose
// agents still run.
func (b *Broker) sweep(ctx context.Context) []SessionID {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	left := b.goingOn()
	engine, err := b.engine.get(ctx, b.config.UserHome)
	if err != nil {
		b.log.Warn("could not look for what killed multiplexers left behind", "error", err)
		return left // remove nothing: agents may still run
	}
	running := map[string]bool{} // by directory below run/
	for _, id := range left {
		running[filepath.Base(stored.LayoutOf(b.config.Home, id).Run)] = true
	}
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
	errVolumes := b.sweepVolumes(ctx, engine)
	dirs, errDirs := stored.LeftoversExcept(ctx, b.config.Home, true, running)
	for _, dir := range dirs {
		b.log.Info("removed the sockets of a session that was killed", "directory", dir)
	}
	if err == nil {
		err = b.sweepWaiting(ctx, left)
	}
	if err := errors.Join(err, errVolumes, errDirs); err != nil {
		b.log.Warn("could not remove everything that killed multiplexers left behind", "error", err)
	}
	return left
}

// sweepVolumes removes the volumes of sessions that are gone.
func (b *Broker) sweepVolumes(ctx context.Context, engine *docker.Client) error {
	seen, err := stored.SweepVolumes(ctx, b.config.Home, engine, stored.VolumeSweep{Remove: true})
	for _, v := range seen {
		if v.Removed {
			b.log.Info("removed a volume", "volume", v.Name, "reason", v.Reason)
		}
	}
	return err
}

// takeable returns the session and the home of a container, and whether somebody can
// still take it back: whether it runs and its session's record exists.
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

// removeUnused removes the sessions that were not used for Config.KeepSessions.
func (b *Broker) removeUnused() {
	removed, err := stored.Retire(b.ctx, b.config.Home, b.config.KeepSessions)
	for _, id := range removed {
		b.log.Info("removed a session that was not used any more", "session", id)
	}
	if err != nil {
		b.log.Warn("could not remove every session that is not used any more", "error", err)
	}
	b.reportUnsettled()
}

// unsettledNamed is how many sessions reportUnsettled names.
const unsettledNamed = 3

// reportUnsettled tells the person which sessions may have work in their worktrees that was
// not brought to the person's repository.
func (b *Broker) reportUnsettled() {
	ids, err := stored.Unsettled(b.config.Home)
	if err != nil {
		b.log.Warn("could not look for worktrees whose work was not brought back", "error", err)
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
	publisher{b}.Noticed(Notice{Urgent: true, Text: fmt.Sprintf("there was no time left to bring back the work of %s: 'ironcurtain-mux sessions resume' or 'sessions rm' does it", strings.Join(names, ", "))})
}

// TakeableElsewhere reports whether a container whose owner was killed can be
// taken back by a multiplexer with another home.
func TakeableElsewhere(home string) func(docker.Summary) bool {
	return func(c docker.Summary) bool {
		_, theirs, ok := takeable(c)
		return ok && theirs != home
	}
}
