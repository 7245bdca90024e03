package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Stored lists the sessions on disk, those used last first.
func (b *Broker) Stored(context.Context) ([]StoredSession, error) {
	all, err := stored.List(b.config.Home, b.settings.Load().config.Agents)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if s, err := b.session(all[i].ID); err == nil {
			all[i].Session = s.Info()
		}
	}
	return all, nil
}

// replaceEnded removes a session from the list so that it can be resumed, if its agent
// has ended and its tab is still shown. It waits until the session is taken down. It
// refuses a session that still runs. There is no event for the removal: the next event
// says that the session starts again, in a new tab.
func (b *Broker) replaceEnded(ctx context.Context, id SessionID) error {
	s, err := b.session(id)
	if err != nil {
		return nil //nolint:nilerr // no tab shows it
	}
	if s.Info().State != StateDead {
		return fault.New(fmt.Sprintf("show it with /tab %d", s.Tab()), "session %s is open in tab %d", id, s.Tab())
	}
	select {
	case <-s.Ended():
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = slices.DeleteFunc(b.sessions, func(x *session.Session) bool { return x == s })
	return nil
}

// closeStored removes what a killed multiplexer left of a session: its container and
// its sockets. Everything that resuming needs is kept. It returns unknown when nothing
// was left.
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
	if !b.goesOn(id) {
		client, failed := b.engine.get(ctx, b.config.UserHome)
		if err = failed; err == nil {
			_, err = client.RemoveLabeled(ctx, map[string]string{LabelSession: id})
		}
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
