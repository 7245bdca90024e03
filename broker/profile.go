package broker

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// depsOf is what the broker hands to the session that a request asks for. A stored session has
// the profile that its record names.
func (b *Broker) depsOf(ctx context.Context, r OpenRequest) (*session.Deps, error) {
	d, p := b.deps(), r.Profile
	if stored.ValidID(r.Resume) {
		if rec, err := stored.ReadRecord(stored.LayoutOf(b.config.Home, r.Resume)); err == nil {
			p = rec.Profile // otherwise session.Resume says what is wrong
		}
	}
	if p.IsZero() {
		return d, nil
	}
	if b.config.OfProfile == nil {
		return nil, errors.New("this multiplexer opens no sessions with a profile")
	}
	c, err := b.config.OfProfile(ctx, p)
	if err != nil {
		return nil, err
	}
	d.Config, d.Policy, d.Servers = &c, nil, new(atomic.Pointer[session.OwnServers])
	return d, nil
}
