package mitm

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Domain is a host that is not a provider's and that a person approved: the agent may
// read from it until the given time.
type Domain struct {
	Name  string
	Until time.Time
}

// domains are the hosts that were approved while the session runs. The proxy inspects
// them like all others. No credential passes in either direction. GET and HEAD need no
// approval; every other request asks.
type domains struct {
	provider *Provider

	mu   sync.Mutex
	open map[string]*openDomain
}

type openDomain struct {
	until time.Time // with a monotonic reading, so that setting the clock back does not prolong it
	host  *guarded
}

// webHeaders may be sent to an approved domain, in addition to the common ones.
var webHeaders = []string{"range", "if-none-match", "if-modified-since", "git-protocol"}

// webResponseHeaders may come back from an approved domain or an API, in addition to the
// common ones. A redirect may pass, because its target must be a host that the agent may
// reach as well.
var webResponseHeaders = []string{
	"location", "last-modified", "content-range", "accept-ranges", "content-disposition", "content-encoding", "content-language", "vary",
	"link", "x-github-*", "x-oauth-scopes", "x-accepted-*",
}

func newDomains() *domains {
	return &domains{
		provider: &Provider{Name: "web", Errors: "openai", RequestHeaders: webHeaders, API: true},
		open:     make(map[string]*openDomain),
	}
}

// badDomain says why a name cannot be approved as a domain.
func badDomain(name, cause string) error {
	return fmt.Errorf("domain %q: %s", printable(name, 100), cause)
}

// checkDomain refuses everything except names of hosts on the Internet: addresses, local
// and internal names.
func checkDomain(name string) error {
	bad := func(cause string) error { return badDomain(name, cause) }
	if !validHost(name) {
		return bad("it must be a host name in lower case, without port, path or final dot")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return bad("it is an address")
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last[0] >= '0' && last[0] <= '9' {
		return bad("it is read as an address by some programs")
	}
	for _, suffix := range []string{".local", ".internal", ".localhost", ".home.arpa", ".in-addr.arpa", ".ip6.arpa", ".onion", ".invalid", ".lan"} {
		if strings.HasSuffix("."+name, suffix) {
			return bad("it is a local or internal name")
		}
	}
	return nil
}

// CheckDomain returns why a domain cannot be added, or nil. It is called before a person
// is asked.
func (p *Proxy) CheckDomain(name string) error {
	if p.domains == nil {
		return badDomain(name, "this session was started without runtime domains")
	}
	if err := checkDomain(name); err != nil {
		return err
	}
	for host := range p.hosts {
		if name == host || strings.HasSuffix(name, "."+host) {
			return badDomain(name, "it belongs to a provider, whose endpoints are fixed")
		}
	}
	for _, g := range p.registries {
		if host := g.host.Name; name == host || strings.HasSuffix(name, "."+host) {
			return badDomain(name, "it belongs to a package registry, from which packages can be installed without asking")
		}
	}
	return nil
}

// AddDomain lets the agent read from a domain until the given time. It needs
// Config.Domains. Adding an approved domain again changes its time.
func (p *Proxy) AddDomain(name string, until time.Time) error {
	if err := p.CheckDomain(name); err != nil {
		return err
	}
	d := p.domains
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.open[name]; o != nil {
		o.until = until
		return nil
	}
	g := &guarded{
		host:     Host{Name: name},
		provider: d.provider,
		base:     &url.URL{Scheme: "https", Host: name},
		issued:   p.issued,
		web:      true,
	}
	if u := p.config.Upstreams[name]; u != nil {
		g.base, g.moved = u, true
	}
	g.tls = p.tlsFor(name, p.web)
	g.prefix = strings.TrimRight(g.base.EscapedPath(), "/")
	var err error
	if g.upstream, err = p.upstreamFor(g); err != nil {
		return err
	}
	d.open[name] = &openDomain{until: until, host: g}
	return nil
}

// RemoveDomain revokes an approval; requests under way continue. It returns whether the
// domain was approved.
func (p *Proxy) RemoveDomain(name string) bool {
	if p.domains == nil {
		return false
	}
	p.domains.mu.Lock()
	defer p.domains.mu.Unlock()
	o := p.domains.open[name]
	delete(p.domains.open, name)
	if o != nil {
		o.host.upstream.close()
	}
	return o != nil
}

// Domains lists the approved domains that have not expired, by name.
func (p *Proxy) Domains() []Domain {
	if p.domains == nil {
		return nil
	}
	p.domains.mu.Lock()
	defer p.domains.mu.Unlock()
	var all []Domain
	for name, o := range p.domains.open {
		if time.Now().Before(o.until) {
			all = append(all, Domain{Name: name, Until: o.until})
		}
	}
	slices.SortFunc(all, func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// domain returns the approved domain of a name, or nil.
func (p *Proxy) domain(name string) *guarded {
	if p.domains == nil {
		return nil
	}
	p.domains.mu.Lock()
	defer p.domains.mu.Unlock()
	o := p.domains.open[name]
	if o == nil {
		return nil
	}
	if !time.Now().Before(o.until) {
		delete(p.domains.open, name)
		o.host.upstream.close()
		return nil
	}
	return o.host
}

// closeDomains closes the domains' connections.
func (p *Proxy) closeDomains() {
	if p.domains == nil {
		return
	}
	p.domains.mu.Lock()
	defer p.domains.mu.Unlock()
	for _, o := range p.domains.open {
		o.host.upstream.close()
	}
}

// webEndpoint returns the endpoint of a request to an approved domain: reading needs no
// approval, everything else asks.
func webEndpoint(method string) *Endpoint {
	return &Endpoint{Method: method, Auth: "none", Ask: !reads(method)}
}

// reads reports whether a method only reads.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// packagePath matches the paths by which package managers get packages: npm's archives, Python's
// index and wheels, the files of a Go module proxy and of its checksum database, crates, and
// Debian packages with their indexes. Package managers write these paths in no other spelling.
var packagePath = regexp.MustCompile(`/-/[^/]+\.tgz$|/simple/[^/]+/$|/pypi/.+/json$|\.whl(\.metadata)?$|/@v/(list|[^/]+\.(info|mod|zip))$|/@latest$|` +
	`/sumdb/|\.crate$|/crates/.+/download$|\.deb$|/dists/.+/(InRelease|Release|Release\.gpg)$`)

// checkWebPath refuses a path that cannot be forwarded unchanged.
func checkWebPath(path string) *denial {
	if path == "" || path[0] != '/' || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\"<>^`{|}") {
		return deny(400, ReasonRawTarget, "the request-target is not a plain path")
	}
	u, err := url.ParseRequestURI(path)
	if err != nil || u.EscapedPath() != path {
		return deny(400, ReasonRawTarget, "the path has a broken or unusual percent-encoding")
	}
	return nil
}
