package mitm

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

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
	issued   func(value string) bool // whether a value is a sentinel, of any session
	web      bool                    // an approved domain, not a provider
	packages string                  // scheme, host and port of a package registry; empty for other hosts
	matcher  atomic.Pointer[matcher] // for the latest list of credentials
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
	g.prefix = strings.TrimRight(g.base.EscapedPath(), "/")
	g.upstream, err = p.upstreamFor(g)
	return g, err
}

// issued reports whether a value looks like a sentinel of any provider, of this session
// or another.
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
