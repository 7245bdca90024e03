package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Stored lists the sessions on disk, those used last first.
func (b *Broker) Stored(context.Context) ([]StoredSession, error) {
	all, err := stored.List(b.config.Home, b.config.Agents)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if s, err := b.session(all[i].ID); err == nil {
			all[i].Session = s.snapshot()
		}
	}
	return all, nil
}

// newFromStored makes the session that continues a stored one: the same id, directory,
// agent and workspace. Its lease is taken here, so that whoever asks learns at
// once when another process has it.
func (b *Broker) newFromStored(r OpenRequest) (*session, error) {
	if !stored.ValidID(r.Resume) {
		return nil, fault.New("list them with 'ironcurtain-mux sessions ls'", "%q is not the id of a session", r.Resume)
	}
	l := stored.LayoutOf(b.config.Home, r.Resume)
	rec, err := stored.ReadRecord(l)
	if err != nil {
		return nil, fault.New("list them with 'ironcurtain-mux sessions ls'", "%w", err)
	}
	adapter, err := b.config.Agents.Named(rec.Agent)
	if err != nil {
		return nil, err
	}
	if adapter.Host {
		return nil, fault.New("open another one with /new local-shell", "a shell of this machine keeps nothing that could be resumed")
	}
	workspace := l.Sandbox()
	if rec.Worktree != nil {
		workspace = l.Worktree().Dir
	} else if rec.Workspace != workspace {
		if workspace, err = stored.ResolveWorkspace(rec.Workspace, b.config.Home, b.config.CacheDir, b.config.UserHome); err != nil {
			return nil, err
		}
		if workspace != rec.Workspace { // an agent that works above it can have put a link there
			return nil, fault.New(fmt.Sprintf("look who put the link there; to work behind it: /new %s --workspace", rec.Agent),
				"the session's workspace %q leads to %q now", rec.Workspace, workspace)
		}
	}
	s := b.newSession(adapter, r)
	s.layout, s.resumed = l, true
	if isCommit(rec.Base) {
		s.startedAt = rec.Base
	}
	s.fixed.ID, s.fixed.CreatedAt, s.fixed.Workspace = rec.ID, rec.CreatedAt, workspace
	s.fixed.Worktree = rec.Worktree
	if s.lease, err = docker.AcquireLease(l.Lock()); errors.Is(err, docker.ErrLeaseHeld) {
		return nil, fault.New("use it there, or close it there first", "session %s is open in another multiplexer", rec.ID)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// makeWay lets a session be resumed that is still shown here after its agent
// has ended, once nothing is left of it; one that runs stays as it is. Nobody is told
// that the former one is closed: what user interfaces hear next is that it starts
// again, in a new tab.
func (b *Broker) makeWay(ctx context.Context, id SessionID) error {
	s, err := b.session(id)
	if err != nil {
		return nil //nolint:nilerr // it is not shown
	}
	if s.snapshot().State != StateDead {
		return fault.New(fmt.Sprintf("show it with /tab %d", s.fixed.Tab), "session %s is open in tab %d", id, s.fixed.Tab)
	}
	select {
	case <-s.finished:
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = slices.DeleteFunc(b.sessions, func(x *session) bool { return x == s })
	return nil
}

// closeStored ends what a killed multiplexer left running of a session: its
// container and its sockets. Everything that resuming needs stays. Of a session
// of which nothing was left, unknown is the answer.
func (b *Broker) closeStored(ctx context.Context, id SessionID, unknown error) error {
	if !stored.ValidID(id) || !stored.WasKilled(stored.LayoutOf(b.config.Home, id)) {
		return unknown
	}
	// The sweep holds the leases of sessions while it looks at them.
	if _, err := b.LeftRunning(ctx); err != nil {
		return err
	}
	l := stored.LayoutOf(b.config.Home, id)
	lease, err := docker.AcquireLease(l.Lock())
	if errors.Is(err, docker.ErrLeaseHeld) {
		return fault.New("close it there", "session %s is open in another multiplexer", id)
	} else if err != nil {
		return err
	}
	client, err := b.engine.get(ctx, b.config.UserHome)
	if err == nil {
		_, err = client.RemoveLabeled(ctx, map[string]string{LabelSession: string(id)})
	}
	if err == nil {
		err = stored.RemoveRun(ctx, l.Run)
	}
	if err == nil {
		err = b.settleStored(ctx, id)
	}
	if r, unread := stored.ReadRecord(l); err == nil && unread == nil {
		err = stored.RemoveMade(b.config.Home, l, r.Session)
	}
	return errors.Join(err, lease.Release())
}

// clearStale removes what is left of the session's former container. The lease
// is ours, so nobody uses it.
func (s *session) clearStale(ctx context.Context, engine *docker.Client) error {
	if !s.resumed {
		return nil
	}
	_, err := engine.RemoveLabeled(ctx, map[string]string{LabelSession: string(s.fixed.ID)})
	return err
}
