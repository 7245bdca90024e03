// Package packages is what the host knows and decides about package registries.
//
// A Host belongs to the process: the registries of this machine, the person's rules, the
// ledger of what was seen, the list of malicious versions. Each agent's session reaches the
// registries through it (Host.Session): the workspace's lockfiles are read when the session begins,
// questions go to the person through the queue of approvals, and records go to the session's
// audit.
package packages

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/apt"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/cargo"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/gomod"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/npm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/pypi"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// Options configure a Host.
type Options struct {
	Cache     string // directory of the store
	State     string // directory of the ledger
	Origins   []*registry.Origin
	Rules     rules.Rules
	NoAudit   bool // audits of vulnerabilities are refused
	NoOffline bool // stored documents are not used while their registry cannot be reached
	// Aside means that another process may have the same directories open. Nothing new is
	// remembered then.
	Aside bool
	// Malicious are directories of OSV files.
	Malicious []string
	// ModuleCache is the go command's cache, which proves the age of modules; empty for none.
	ModuleCache string
	// NewNames is how many names that this machine does not know a session may ask for before a
	// person is asked, and UnknownNames how many that a registry does not have. 0 means no limit.
	NewNames, UnknownNames int
	// Reserved are names, by ecosystem, that are never sent to a registry.
	Reserved map[string][]string
	// Container are the registries as programs in a container know them.
	Container agent.Registries
	// GitHosts are the known hosts of Go modules.
	GitHosts    []string
	Upstreams   map[string]*url.URL
	UpstreamCAs *x509.CertPool
	Limits      registry.Limits
	CacheBytes  int64 // to which the store is shrunk; 0 means 10 GB
	Log         *slog.Logger
	// Compare says in which registries the tools of this machine differ from Origins, or "". It may
	// take a minute, and ends with its context. If it is nil, nothing is compared.
	Compare func(ctx context.Context) string
}

// Host is what the sessions of one process share. It is safe for concurrent use.
type Host struct {
	options Options
	store   *store.Store
	plane   *registry.Plane
	ledger  *Ledger
	heads   *heads
	kinds   []registry.Ecosystem

	comparison comparison
	malicious  *Malicious
}

// Ecosystems lists the kinds of registries that agents can use.
func Ecosystems() []string { return []string{"npm", "pypi", "go", "cargo", "apt"} }

// Open makes a Host. It reads the ledger and the list of malicious versions, which may take a
// while, and connects to nothing.
func Open(o Options) (*Host, error) {
	kept, err := store.Open(o.Cache)
	if err != nil {
		return nil, err
	}
	for i := range o.Rules.List {
		if err := o.Rules.List[i].Check(); err != nil {
			return nil, fmt.Errorf("rule %d for packages: %w", i+1, err)
		}
	}
	o.Rules.List = slices.Clone(o.Rules.List)
	for i := range o.Rules.List {
		r := &o.Rules.List[i]
		r.Same = func(ecosystem, version string) bool { return sameVersion(ecosystem, r.Version, version) }
	}
	malicious, err := ReadMalicious(o.Malicious, kept)
	if err != nil {
		return nil, err
	}
	h := &Host{options: o, store: kept, malicious: malicious}
	kept.Bound(h.cacheBytes())
	if h.heads, err = openHeads(filepath.Join(o.State, "packages.heads"), o.ModuleCache, goKeys(o.Origins), o.Aside); err != nil {
		return nil, err
	}
	repositories, err := openRepositories(filepath.Join(o.State, "packages.apt.json"), o.Aside)
	if err != nil {
		return nil, errors.Join(err, h.heads.close())
	}
	h.kinds = []registry.Ecosystem{npm.Ecosystem{}, pypi.Ecosystem{}, gomod.New(h.heads), cargo.Ecosystem{}, apt.New(repositories)}
	h.plane, err = registry.New(registry.Config{
		Store: kept, Ecosystems: h.kinds, Origins: o.Origins, Reserved: o.Reserved, NoAudit: o.NoAudit, NoOffline: o.NoOffline, Upstreams: o.Upstreams, UpstreamCAs: o.UpstreamCAs, Limits: o.Limits, Log: o.Log,
	})
	if err != nil {
		return nil, errors.Join(err, h.heads.close())
	}
	if h.ledger, err = OpenLedger(filepath.Join(o.State, "packages.ledger"), o.Aside); err != nil {
		h.plane.Close()
		return nil, errors.Join(err, h.heads.close())
	}
	h.comparison.start(o.Compare)
	return h, nil
}

// goKeys are the verifier keys of the checksum databases of all origins.
func goKeys(origins []*registry.Origin) []string {
	var keys []string
	for _, o := range origins {
		if o.Ecosystem == "go" {
			keys = append(keys, o.Keys...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Close ends all fetches, and shrinks the store if it has grown. All sessions must have ended.
func (h *Host) Close() error {
	h.comparison.stop()
	h.plane.Close()
	return errors.Join(h.store.Close(), h.ledger.Close(), h.heads.close())
}

func (h *Host) cacheBytes() int64 {
	if h.options.CacheBytes > 0 {
		return h.options.CacheBytes
	}
	return 10 << 30
}

// Origins lists the registries.
func (h *Host) Origins() []*registry.Origin { return h.plane.Origins() }

// Container returns the registries as programs in a container know them.
func (h *Host) Container() agent.Registries { return h.options.Container }

// Hosts lists the authorities of all registries, for mitm.Config.Registries.
func (h *Host) Hosts() []string {
	all := h.plane.Hosts()
	slices.Sort(all)
	return slices.Compact(all)
}

// judge judges a version in a session.
func (h *Host) judge(p registry.Package, s *Session) (rules.Facts, rules.Verdict) {
	f := h.factsOf(p, s)
	return f, h.options.Rules.Judge(f, time.Now())
}

// newPackage is how long after its first version a package is new.
const newPackage = 30 * 24 * time.Hour

// factsOf gathers what the rules need to know.
func (h *Host) factsOf(p registry.Package, s *Session) rules.Facts {
	v, origin := p.Version, p.Origin.URL.String()
	f := rules.Facts{
		Ecosystem: p.Origin.Ecosystem, Name: p.Facts.Name, Version: v.Version, Published: v.Published,
		Ageless: p.Origin.Private || p.Origin.Ecosystem == "apt", Scripts: v.Scripts,
		Malicious: h.malicious.Find(p.Origin.Ecosystem, p.Facts.Name, v.Version),
	}
	if p.Inspection != nil {
		f.Scripts = p.Inspection.Scripts
	}
	if !f.Ageless {
		var err error
		version := f.Version
		if f.Ecosystem == "pypi" { // the file name decides the spelling
			version = pypi.VersionKey(version)
		}
		switch {
		case f.Published.IsZero():
			f.Published, err = h.ledger.FirstSeen(origin, f.Name, version, filesOf(p)...)
		case v.Proof == "":
			f.Published, err = h.ledger.Published(origin, f.Name, version, f.Published)
		}
		if err != nil {
			h.log().Error("packages", "error", err) // the version then counts as new
		}
	}
	first := p.Facts.History().First
	if first.IsZero() {
		first = f.Published // the registry gives no times
	}
	if !first.IsZero() && time.Since(first) < newPackage && !p.Origin.Private {
		f.Confusable = s.lookAlike(p.Origin, p.Facts)
	}
	if slices.ContainsFunc(h.options.Rules.List, func(r rules.Rule) bool { return r.PublisherChanged || r.ProvenanceLost }) {
		f.PublisherChanged, f.ProvenanceLost = changed(p.Facts, v)
	}
	return f
}

// filesOf names the files of a version, if its ecosystem allows files to be added to versions.
func filesOf(p registry.Package) []string {
	if p.Origin.Ecosystem != "pypi" {
		return nil
	}
	var names []string
	for i := range p.Version.Files {
		if f := &p.Version.Files[i]; f.Of == "" {
			names = append(names, path.Base(f.URL))
		}
	}
	return names
}

// changed reports whether all earlier versions have another publisher than v, and whether one of
// them has a proof of origin and v has none. A registry may give only one of the two.
func changed(f *registry.Facts, v *registry.Version) (publisher, provenance bool) {
	h := f.History()
	before := func(at *time.Time) bool { return at != nil && at.Before(v.Published) }
	first, published := h.Publishers[v.Publisher]
	publisher = v.Publisher != "" && before(h.Told) && !(published && before(&first))
	return publisher, before(h.Provenance) && v.Provenance != registry.Yes
}

func (h *Host) log() *slog.Logger {
	if h.options.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.options.Log
}
