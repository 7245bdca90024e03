package broker

import (
	"context"
	"errors"

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

// awaitEnd waits until the former life of a session that is to be resumed is taken down. It refuses
// a session whose agent still runs.
func (b *Broker) awaitEnd(ctx context.Context, id SessionID) error {
	s, err := b.session(id)
	if err != nil {
		return nil //nolint:nilerr // no tab shows it
	}
	if state := s.Info().State; state != StateDead && state != StateClosed {
		return fault.New("use its tab", "session %s is open", id)
	}
	select {
	case <-s.Ended():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeStored removes what a killed multiplexer left of a session: its container and
// its sockets. Everything that resuming needs is kept. It returns unknown when nothing
// was left.
func (b *Broker) closeStored(ctx context.Context, id SessionID, unknown error) error {
	if !stored.ValidID(id) || !stored.WasKilled(stored.LayoutOf(b.config.Home, id)) {
		return unknown
	}
	// The sweep holds the lease of each session that it is examining.
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
			err = client.RemoveLabeled(ctx, map[string]string{LabelSession: id})
		}
	}
	if err == nil {
		err = stored.RemoveRun(ctx, l.Run)
	}
	if err == nil {
		err = errors.Join(b.settleStored(ctx, id), b.grants.Close(id))
	}
	if r, unread := stored.ReadRecord(l); err == nil && unread == nil {
		err = stored.RemoveMade(b.config.Home, l, r.Session)
	}
	return errors.Join(err, lease.Release())
}
