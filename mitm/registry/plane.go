package registry

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// Config configures a Plane.
type Config struct {
	// Store keeps what was downloaded.
	Store *store.Store
	// Ecosystems are the known kinds of registries.
	Ecosystems []Ecosystem
	// Origins are the registries that agents may reach. No two share a base.
	Origins []*Origin
	// Reserved are names, by ecosystem, that are never sent to a registry. They are written
	// like Origin.Scopes.
	Reserved map[string][]string
	// Upstreams maps a host, with or without a port, to another base URL, as in mitm.Config.
	// The person has configured it, so its address may be private.
	Upstreams map[string]*url.URL
	// UpstreamCAs are the roots for registries; nil is the system's.
	UpstreamCAs *x509.CertPool
	Dialer      netguard.Dialer
	// NoAudit refuses vulnerability audits. NoOffline refuses to answer from a stored document
	// when its registry cannot be reached.
	NoAudit, NoOffline bool
	Log                *slog.Logger // nil for none
	Limits             Limits
}

// Limits bounds what registries and agents can make a plane spend. A zero field means its
// default.
type Limits struct {
	DocumentBytes int64         // of one document, decoded; 256 MiB
	ArtifactBytes int64         // of one artifact; 4 GiB
	SpoolBytes    int64         // the largest artifact that is verified completely before its first byte is sent; 8 MiB
	HostRequests  int           // under way to one host; 64
	Requests      int           // of one session, under way; 128
	Waiting       int           // artifacts of one session that wait for a person; 100
	Stall         time.Duration // between two reads from a registry; 60 s
	Fresh         time.Duration // how long a document is used without asking again; 60 s
	Believed      time.Duration // how long artifacts are looked up in a document; 24 h
	Offline       time.Duration // how long a document is used when its registry cannot be reached; 7 days
	Wave          time.Duration // artifacts that begin to wait within it become one question; 750 ms
	Patience      time.Duration // how long a question stays after its last request has gone; 60 s
	FactsBytes    int64         // of documents in memory; 64 MiB
}

func (l Limits) withDefaults() Limits {
	l.DocumentBytes = cmp.Or(l.DocumentBytes, 256<<20)
	l.ArtifactBytes = cmp.Or(l.ArtifactBytes, 4<<30)
	l.SpoolBytes = cmp.Or(l.SpoolBytes, 8<<20)
	l.HostRequests = cmp.Or(l.HostRequests, 64)
	l.Requests = cmp.Or(l.Requests, 128)
	l.Waiting = cmp.Or(l.Waiting, 100)
	l.Stall = cmp.Or(l.Stall, time.Minute)
	l.Fresh = cmp.Or(l.Fresh, time.Minute)
	l.Believed = cmp.Or(l.Believed, 24*time.Hour)
	l.Offline = cmp.Or(l.Offline, 7*24*time.Hour)
	l.Wave = cmp.Or(l.Wave, 750*time.Millisecond)
	l.Patience = cmp.Or(l.Patience, time.Minute)
	l.FactsBytes = cmp.Or(l.FactsBytes, 64<<20)
	return l
}

// Documents larger than largeBytes are read by at most largeDocuments requests at a time. Those
// larger than countedBytes also take from the sessionBytes of memory of their session until their
// clients have the answers. So an agent that does not read its answers blocks no other agent.
const (
	largeDocuments = 2
	largeBytes     = 8 << 20
	countedBytes   = 1 << 20
	sessionBytes   = 64 << 20
)

// Plane is what the sessions of one process share: the registries, the downloads and the
// connections. It is safe for concurrent use.
type Plane struct {
	config     Config
	limits     Limits
	log        *slog.Logger
	ecosystems map[string]Ecosystem
	upstream   *upstream
	flights    singleflight.Group // documents and artifacts that are being fetched
	facts      *factsCache
	secrets    *leak.Finder  // of the registries' credentials
	large      chan struct{} // one for each exchange that reads a large document

	ctx    context.Context // ends when the plane closes
	cancel context.CancelFunc
	wg     sync.WaitGroup // fetches
}

// New makes a plane. It connects to nothing.
func New(c Config) (*Plane, error) {
	p := &Plane{config: c, limits: c.Limits.withDefaults(), log: c.Log, ecosystems: make(map[string]Ecosystem)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	for _, e := range c.Ecosystems {
		p.ecosystems[e.Name()] = e
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("configure the registries: %w", err)
	}
	p.secrets = secretsOf(c.Origins)
	p.facts = newFactsCache(p.limits.FactsBytes)
	p.large = make(chan struct{}, largeDocuments)
	p.upstream = newUpstream(p)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// check refuses origins that could not be distinguished.
func (p *Plane) check() error {
	owner := make(map[string]*Origin)
	for _, o := range p.config.Origins {
		if p.ecosystems[o.Ecosystem] == nil {
			return fmt.Errorf("the ecosystem %q of %s is unknown", o.Ecosystem, o.URL)
		}
		for _, base := range o.Bases() {
			if err := checkBase(base); err != nil {
				return err
			}
			if other := owner[base.String()]; other != nil && other != o {
				return fmt.Errorf("%s belongs to two registries", base)
			}
			owner[base.String()] = o
		}
	}
	return nil
}

func checkBase(base *url.URL) error {
	switch {
	case base.Scheme != "https" && base.Scheme != "http":
		return fmt.Errorf("%s is not a web address", base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return fmt.Errorf("%s has more than scheme, host and path", base.Redacted())
	case base.Host == "" || !strings.HasSuffix(base.EscapedPath(), "/"):
		return fmt.Errorf("the path of %s does not end with a slash", base.Redacted())
	}
	return nil
}

// Close ends all fetches and connections.
func (p *Plane) Close() {
	p.cancel()
	p.wg.Wait()
	p.upstream.close()
}

// Bases lists all bases of an origin: its own, its aliases, those of artifacts.
func (o *Origin) Bases() []*url.URL {
	all := append([]*url.URL{o.URL}, o.Aliases...)
	return append(all, o.Artifacts...)
}

// Origins lists the registries.
func (p *Plane) Origins() []*Origin { return p.config.Origins }

// Hosts lists scheme, host and port of all bases: "https://npm.example:443".
func (p *Plane) Hosts() []string {
	var all []string
	for _, o := range p.config.Origins {
		for _, base := range o.Bases() {
			all = append(all, Authority(base))
		}
	}
	return all
}

// Authority returns scheme, host and port of an address: "https://npm.example:443".
func Authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// find returns the origin with the longest base that a path at an authority is below.
func (p *Plane) find(authority, path string) (o *Origin, base *url.URL) {
	for _, candidate := range p.config.Origins {
		for _, b := range candidate.Bases() {
			if Authority(b) == authority && strings.HasPrefix(path, b.EscapedPath()) &&
				(base == nil || len(b.EscapedPath()) > len(base.EscapedPath())) {
				o, base = candidate, b
			}
		}
	}
	return o, base
}

// Find returns the origin of an ecosystem at which a name is looked up: the one whose scopes
// contain the name, else the first without scopes. It returns nil if there is none.
func (p *Plane) Find(ecosystem, name string) *Origin {
	var fallback *Origin
	for _, o := range p.config.Origins {
		switch {
		case o.Ecosystem != ecosystem:
		case o.Owns(name):
			return o
		case fallback == nil && len(o.Scopes) == 0:
			fallback = o
		}
	}
	return fallback
}

// Owns reports whether a name is in one of the origin's scopes.
func (o *Origin) Owns(name string) bool { return inScopes(o.Ecosystem, o.Scopes, name) }

// inScopes reports whether a name, in any equivalent spelling, is in a scope.
func inScopes(ecosystem string, scopes []string, name string) bool {
	name = folded(ecosystem, name)
	for _, scope := range scopes {
		scope = folded(ecosystem, scope)
		if ecosystem == "go" {
			scope = strings.TrimRight(scope, "/") // as the go command reads GOPRIVATE
		}
		if name == scope || strings.HasPrefix(name, scope+"/") {
			return true
		}
		if head, wild := strings.CutSuffix(scope, "*"); wild && strings.HasPrefix(name, head) {
			return true
		}
		if ecosystem == "go" && matchesStart(scope, name) {
			return true
		}
	}
	return false
}

// matchesStart reports whether a pattern of GOPRIVATE's syntax matches the first elements of a
// module's path. A malformed pattern matches everything.
func matchesStart(pattern, module string) bool {
	parts := strings.SplitAfter(module, "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, err := path.Match(pattern, strings.TrimSuffix(strings.Join(parts[:n], ""), "/"))
	return ok || err != nil
}

// folded writes names that people confuse in one way.
func folded(ecosystem, name string) string {
	if ecosystem == "pypi" || ecosystem == "cargo" {
		return text.Fold(name)
	}
	return strings.ToLower(name)
}
