package mitm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy guards the providers of one session. Its methods are safe for
// concurrent use.
type Proxy struct {
	config    Config
	limits    Limits
	log       *slog.Logger
	authority *authority
	domains   *domains            // nil when none can be added
	hosts     map[string]*guarded // by name; fixed after New
	sentinels map[string]sentinel // by provider; fixed after New

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
	open      map[*link]bool
}

// guarded is one host that the agent may reach.
type guarded struct {
	host     Host
	provider *Provider
	mode     Mode
	sentinel sentinel
	base     *url.URL // where requests go
	moved    bool     // base is configured, not the provider's own
	tls      *tls.Config
	prefix   string // base's path, in front of every other
	upstream *upstream
	issued   func(value string) bool // whether a value is a sentinel of anybody
	web      bool                    // a domain that was approved, not a provider
	matcher  atomic.Pointer[matcher] // for the credential that was sent last
}

// New makes a proxy with an authority and sentinels of its own. It mutes the
// standard logger of package log for the whole process: net/http prints there,
// without asking anybody, what an upstream sends after an answer, and that can be
// the credential that it was just given.
func New(c Config) (*Proxy, error) {
	log.SetOutput(io.Discard)
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
		config:    c,
		limits:    limits,
		log:       c.Log,
		hosts:     make(map[string]*guarded),
		sentinels: make(map[string]sentinel),
		slots:     make(chan struct{}, limits.Connections),
		requests:  make(chan struct{}, limits.Requests),
		spool:     &spool{limit: limits.SpoolBytes},
		listeners: make(map[net.Listener]bool),
		open:      make(map[*link]bool),
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
	if c.Identity != nil {
		if err := p.takeOver(c.Identity); err != nil {
			return nil, fmt.Errorf("take over from another proxy: %w", err)
		}
	}
	for host := range c.Upstreams {
		if p.hosts[host] == nil && !c.Domains {
			return nil, fmt.Errorf("configure the proxy: upstream for %s, which is no host of the chosen providers", host)
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// makeAuthorities makes the authority for the chosen providers' hosts and, if
// domains can be added, the one for all others.
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
	if p.authority, err = newAuthority(names); err != nil || !p.config.Domains {
		return err
	}
	p.domains, err = newDomains(names)
	return err
}

// guard adds the hosts of a provider.
func (p *Proxy) guard(name string) error {
	i := slices.IndexFunc(p.config.Table, func(q Provider) bool { return q.Name == name })
	if i < 0 {
		known := make([]string, 0, len(p.config.Table))
		for _, q := range p.config.Table {
			known = append(known, q.Name)
		}
		return fmt.Errorf("unknown provider %q (known: %s)", name, strings.Join(known, ", "))
	}
	provider := &p.config.Table[i]
	if _, twice := p.sentinels[name]; twice {
		return fmt.Errorf("provider %s is named twice", name)
	}
	mode, err := provider.modeFor(p.config.Modes[name])
	if err != nil {
		return err
	}
	s := newSentinel(mode)
	p.sentinels[name] = s
	for _, host := range provider.Hosts {
		if other := p.hosts[host.Name]; other != nil {
			return fmt.Errorf("host %s belongs to %s and to %s", host.Name, other.provider.Name, name)
		}
		g, err := p.newGuarded(host, provider, mode, s)
		if err != nil {
			return err
		}
		p.hosts[host.Name] = g
	}
	return nil
}

func (p *Proxy) newGuarded(host Host, provider *Provider, mode Mode, s sentinel) (*guarded, error) {
	base, err := host.base()
	if err != nil {
		return nil, err
	}
	g := &guarded{
		host:     host,
		provider: provider,
		mode:     mode,
		sentinel: s,
		base:     base,
		moved:    host.BaseURL != "",
		issued:   p.issued,
	}
	if u := p.config.Upstreams[host.Name]; u != nil {
		g.base, g.moved = u, true
	}
	g.tls = p.tlsFor(host.Name, p.authority)
	g.prefix, g.upstream = strings.TrimRight(g.base.EscapedPath(), "/"), p.upstreamFor(g)
	return g, nil
}

// issued says whether a value looks like a sentinel: of any provider, of this
// session or of another.
func (p *Proxy) issued(value string) bool {
	for _, q := range p.config.Table {
		for _, m := range q.Modes {
			if strings.HasPrefix(value, sentinelHead(m)) {
				return true
			}
		}
	}
	return false
}

// CACertificate returns what the agent must trust, in PEM: one certificate, or
// two when domains can be added.
func (p *Proxy) CACertificate() []byte {
	all := slices.Clone(p.authority.pem)
	if p.domains != nil {
		all = append(all, p.domains.authority.pem...)
	}
	return all
}

// Hosts lists the providers' hosts that the agent may reach, by name.
func (p *Proxy) Hosts() []string { return slices.Sorted(maps.Keys(p.hosts)) }

// Moved returns the hosts whose requests go elsewhere, and where.
func (p *Proxy) Moved() map[string]string {
	all := make(map[string]string)
	for name, g := range p.hosts {
		if g.moved {
			all[name] = g.base.String()
		}
	}
	return all
}

// Sentinels returns the fake credential for each host.
func (p *Proxy) Sentinels() map[string]string {
	all := make(map[string]string, len(p.hosts))
	for name, g := range p.hosts {
		all[name] = g.sentinel.value
	}
	return all
}

// Sentinel returns the fake credential of a provider; empty for one that is
// not configured.
func (p *Proxy) Sentinel(provider string) string { return p.sentinels[provider].value }

// Serve accepts connections until Close, then returns nil. It closes l.
func (p *Proxy) Serve(l net.Listener) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return l.Close() // Close came first, which is no fault of anybody's
	}
	p.listeners[l] = true
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	defer func() {
		p.mu.Lock()
		delete(p.listeners, l)
		p.mu.Unlock()
		_ = l.Close()
	}()
	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		switch {
		case p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) && p.isClosed():
			if err == nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept: %w", err)
		case err != nil: // out of descriptors, an aborted connection: it passes
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			p.log.Warn("accept", "error", err, "pause", pause)
			select {
			case <-p.ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		pause = 0
		p.adopt(c)
	}
}

func (p *Proxy) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// adopt starts serving a connection. When there are too many it refuses, in
// the accepting goroutine, so that a flood waits in the listener's queue.
func (p *Proxy) adopt(c net.Conn) {
	l := newLink(p, c)
	select {
	case p.slots <- struct{}{}:
	default:
		l.refuseOuter(&head{}, deny(503, ReasonConnections, "Too many connections are open."), time.Second)
		l.close()
		return
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		l.close()
		return
	}
	p.open[l] = true
	p.wg.Add(1)
	p.mu.Unlock()
	go func() {
		defer p.wg.Done()
		defer p.forget(l)
		l.serve()
	}()
}

func (p *Proxy) forget(l *link) {
	l.close()
	p.mu.Lock()
	delete(p.open, l)
	p.mu.Unlock()
	<-p.slots
}

// Close stops accepting, gives the requests under way a short time, and ends
// everything. When it returns nil, no goroutine and no descriptor of the proxy
// is left.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for l := range p.listeners {
		_ = l.Close()
	}
	for l := range p.open {
		l.closeWhenIdle()
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.wg.Wait()
		close(done)
	}()
	grace := time.NewTimer(p.limits.ShutdownRequest)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	case <-ctx.Done():
	}
	p.cancel()
	p.mu.Lock()
	for l := range p.open {
		l.close()
	}
	p.mu.Unlock()
	defer func() {
		for _, g := range p.hosts {
			g.upstream.close()
		}
		p.closeDomains()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		select {
		case <-done:
			return nil
		default:
			return fmt.Errorf("close the proxy: %w", ctx.Err())
		}
	}
}
