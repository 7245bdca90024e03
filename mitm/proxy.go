package mitm

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// Proxy guards the providers of one session. Its methods are safe for
// concurrent use.
type Proxy struct {
	config    Config
	limits    Limits
	log       *slog.Logger
	authority *authority          // of the providers' hosts
	web       *authority          // of all other hosts; nil when there are none
	domains   *domains            // nil when domains cannot be added
	hosts     map[string]*guarded // by name; fixed after New
	// registries are the hosts of package registries, by scheme, host and port; fixed after New.
	registries map[string]*guarded
	sentinels  map[string]sentinel // by provider; fixed after New

	seq   atomic.Uint64 // of requests and refused connections
	conns atomic.Uint64 // of connections

	ctx    context.Context // ends when the proxy closes
	cancel context.CancelFunc
	wg     sync.WaitGroup // connections

	slots    chan struct{} // one per connection
	requests chan struct{} // one per request that is being forwarded
	spool    *spool
	given    given

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]bool
	open      map[*agentConn]bool
}

// New makes a proxy with a new authority and new sentinels, or with those of
// Config.Identity.
func New(c Config) (*Proxy, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("configure the proxy: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Table == nil {
		c.Table = Providers()
	}
	limits := c.Limits.withDefaults()
	p := &Proxy{
		config:     c,
		limits:     limits,
		log:        c.Log,
		hosts:      make(map[string]*guarded),
		registries: make(map[string]*guarded),
		sentinels:  make(map[string]sentinel),
		slots:      make(chan struct{}, limits.Connections),
		requests:   make(chan struct{}, limits.Requests),
		spool:      &spool{limit: limits.SpoolBytes},
		listeners:  make(map[net.Listener]bool),
		open:       make(map[*agentConn]bool),
	}
	for _, held := range c.Held {
		p.given.add(held)
	}
	if err := p.makeAuthorities(); err != nil {
		return nil, fmt.Errorf("configure the proxy: %w", err)
	}
	for _, name := range c.Providers {
		if err := p.guard(name); err != nil {
			return nil, fmt.Errorf("configure the proxy: %w", err)
		}
	}
	if err := p.guardRegistries(); err != nil {
		return nil, fmt.Errorf("configure the proxy: %w", err)
	}
	if c.Identity != nil {
		if err := p.takeOver(c.Identity); err != nil {
			return nil, fmt.Errorf("take over from another proxy: %w", err)
		}
	}
	for host := range c.Upstreams {
		if p.hosts[host] == nil && !c.Domains {
			return nil, fmt.Errorf("configure the proxy: upstream for %s, which is not a host of the chosen providers", host)
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// makeAuthorities makes the authority for the chosen providers' hosts and, if domains can
// be added or there are registries, a second one for all other hosts. That one cannot sign
// for a provider's host.
func (p *Proxy) makeAuthorities() error {
	var names []string
	for _, q := range p.config.Table {
		if slices.Contains(p.config.Providers, q.Name) {
			for _, h := range q.Hosts {
				names = append(names, h.Name)
			}
		}
	}
	slices.Sort(names)
	var err error
	if p.authority, err = newAuthority(names); err != nil {
		return err
	}
	if p.config.Domains {
		p.domains = newDomains()
	}
	if p.config.Domains || p.config.Packages != nil {
		p.web, err = newWebAuthority(names)
	}
	return err
}

// CACertificate returns the certificates that the agent must trust, in PEM: one, or two
// when there may be other hosts than providers'.
func (p *Proxy) CACertificate() []byte {
	all := slices.Clone(p.authority.pem)
	if p.web != nil {
		all = append(all, p.web.pem...)
	}
	return all
}

// Hosts lists the providers' hosts that the agent may reach, by name.
func (p *Proxy) Hosts() []string { return slices.Sorted(maps.Keys(p.hosts)) }

// Moved returns the hosts that have another base URL, and these URLs.
func (p *Proxy) Moved() map[string]string {
	all := make(map[string]string)
	for name, g := range p.hosts {
		if g.moved {
			all[name] = g.base.String()
		}
	}
	return all
}

// Sentinels returns the sentinel for each host.
func (p *Proxy) Sentinels() map[string]string {
	all := make(map[string]string, len(p.hosts))
	for name, g := range p.hosts {
		all[name] = g.sentinel.value
	}
	return all
}

// Sentinel returns the sentinel of a provider, or an empty string if the provider is not
// configured.
func (p *Proxy) Sentinel(provider string) string { return p.sentinels[provider].value }
