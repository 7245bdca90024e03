package wiring

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// profiles makes the configurations of sessions that have a profile.
type profiles struct {
	paths Paths
	log   *slog.Logger

	packages *registries

	mu   sync.Mutex
	keys map[string]keyring // the person's credentials, by where requests go, so that only one keyring renews a login
	demo *RunningDemo       // nil before the first session of the demo
}

// config makes the configuration of a session that has a profile, from config.json and the files
// of the profile as they are now.
func (o *profiles) config(ctx context.Context, p broker.Profile) (broker.Config, error) {
	c, err := o.paths.Config()
	if err != nil {
		return broker.Config{}, err
	}
	if p.Demo {
		d, err := o.demoParts(ctx)
		if err != nil {
			return broker.Config{}, err
		}
		return o.withPackages(d.Config(o.paths, c, o.log))
	}
	w, err := o.paths.Wire(c, p)
	if err != nil {
		return broker.Config{}, err
	}
	w.Keys = o.sharedKeys(p, w.Keys)
	return o.withPackages(w.Sessions(o.log))
}

// withPackages adds the package registries, which all sessions of the process share.
func (o *profiles) withPackages(c broker.Config, err error) (broker.Config, error) {
	if err == nil && o.packages != nil {
		c.Packages = o.packages.host
	}
	return c, err
}

// reload makes the configuration of sessions without a profile from config.json as it is now, and
// stores the parts that it is made of in latest.
func (o *profiles) reload(latest *atomic.Pointer[Parts]) (broker.Config, error) {
	fail := func(err error) (broker.Config, error) {
		return broker.Config{}, fault.New(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	c, err := o.paths.Config()
	if err != nil {
		return fail(err)
	}
	w, err := o.paths.Wire(c, broker.Profile{})
	if err != nil {
		return fail(err)
	}
	if _, err := w.Agents.Named(c.Agent); err != nil {
		return fail(err)
	}
	w.Keys = o.sharedKeys(broker.Profile{}, w.Keys)
	sessions, err := o.withPackages(w.Sessions(o.log))
	if err != nil {
		return fail(err)
	}
	latest.Store(&w)
	return sessions, nil
}

// demoParts returns what the demo needs. The first call starts it.
func (o *profiles) demoParts(ctx context.Context) (d *RunningDemo, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.demo == nil {
		o.demo, err = StartDemo(ctx, o.paths)
	}
	return o.demo, err
}

// sharedKeys returns the credentials that all sessions share whose requests go to the same places as
// those of a profile.
func (o *profiles) sharedKeys(p broker.Profile, fresh keyring) keyring {
	to := broker.Profile{Upstreams: p.Upstreams, UpstreamCA: p.UpstreamCA}.String()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys[to] == nil {
		o.keys[to] = fresh
	}
	return o.keys[to]
}

// close ends what the demo needed, and the package registries.
func (o *profiles) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.packages.close()
	if o.demo != nil {
		err = errors.Join(err, o.demo.Close())
	}
	return err
}
