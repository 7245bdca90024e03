package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// registries are the package registries of this machine. They are opened for the first session
// that needs them, because asking this machine's tools for them takes time.
type registries struct {
	paths  Paths
	config config.Config
	log    *slog.Logger

	mu     sync.Mutex
	opened *packages.Host
}

// newRegistries returns the registries of a configuration; nil if agents use none.
func newRegistries(p Paths, c config.Config, log *slog.Logger) *registries {
	if !c.Registries.Enabled {
		return nil
	}
	return &registries{paths: p, config: c, log: log}
}

// host returns the registries. The first call opens them.
func (r *registries) host(ctx context.Context) (*packages.Host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened != nil {
		return r.opened, nil
	}
	_, known, err := learn.Load(r.paths.RegistriesFile())
	if err != nil {
		return nil, err
	}
	sources, notes, err := r.paths.PackageSources(ctx, r.config)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		r.log.Info("package registries", "note", note)
	}
	var compare func(context.Context) string
	if known {
		compare = func(ctx context.Context) string { return r.paths.newSources(ctx, r.config, sources, r.log) }
	}
	r.opened, err = r.paths.OpenPackages(ctx, r.config, PackageUse{Sources: sources, Compare: compare}, r.log)
	return r.opened, err
}

// close closes the registries.
func (r *registries) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened == nil {
		return nil
	}
	return r.opened.Close()
}

// PackageUse says how OpenPackages opens registries.
type PackageUse struct {
	Sources []learn.Source
	Aside   bool                             // another process may have them open, so nothing is stored
	Compare func(ctx context.Context) string // packages.Options.Compare
}

// OpenPackages opens the registries of some sources.
func (p Paths) OpenPackages(ctx context.Context, c config.Config, use PackageUse, log *slog.Logger) (*packages.Host, error) {
	sources := slices.DeleteFunc(slices.Clone(use.Sources), func(s learn.Source) bool {
		return !slices.Contains(packages.Ecosystems(), s.Ecosystem)
	})
	o := packages.Options{
		Cache: filepath.Join(p.Cache, "packages"), State: p.Home, Rules: rulesOf(c.Registries), Aside: use.Aside, Compare: use.Compare, NoAudit: c.Registries.Audit == "off", NoOffline: c.Registries.Offline == "refuse",
		Malicious: p.expand(c.Registries.Malicious), NewNames: c.Registries.NewNames, UnknownNames: c.Registries.UnknownNames,
		ModuleCache: moduleCache(p.UserHome), GitHosts: c.GitHosts, CacheBytes: int64(c.Registries.CacheGB) << 30, Log: log,
		Reserved: make(map[string][]string), Upstreams: make(map[string]*url.URL),
	}
	learned, _, err := learn.Load(p.RegistriesFile())
	if err != nil {
		return nil, err
	}
	if o.Container, err = RegistriesOf(sources, CargoAddress(learned)); err != nil {
		return nil, err
	}
	for _, s := range sources {
		if s.URL == "" {
			o.Reserved[s.Ecosystem] = append(o.Reserved[s.Ecosystem], s.Scopes...)
			continue
		}
		origin, err := originOf(s, o.Upstreams)
		if err != nil {
			return nil, fmt.Errorf("use the package registry %s: %w", s.URL, err)
		}
		if origin.Credential, err = p.Tools().Login(ctx, s); err != nil {
			log.Warn("package registries", "error", err) // the registry may serve some packages without a login
		}
		o.Origins = append(o.Origins, origin)
	}
	return packages.Open(o)
}

// moduleCache returns the directory in which the go command keeps modules.
func moduleCache(home string) string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	if list := filepath.SplitList(os.Getenv("GOPATH")); len(list) > 0 && list[0] != "" {
		return filepath.Join(list[0], "pkg", "mod")
	}
	return filepath.Join(home, "go", "pkg", "mod")
}

// originOf makes the origin of a source. A registry at localhost or an IP address gets the name
// by which agents know it, and an entry in upstreams.
func originOf(s learn.Source, upstreams map[string]*url.URL) (*registry.Origin, error) {
	baseOf := func(address string) (*url.URL, error) {
		inside, err := agent.ContainerAddress(address)
		if err != nil {
			return nil, err
		}
		base, err := url.Parse(inside)
		if err == nil && inside != address {
			upstream, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			upstreams[base.Host] = &url.URL{Scheme: upstream.Scheme, Host: upstream.Host}
		}
		return base, err
	}
	base, err := baseOf(s.URL)
	if err != nil {
		return nil, err
	}
	origin := &registry.Origin{Ecosystem: s.Ecosystem, URL: base, From: s.From, Private: s.Private, Scopes: s.Scopes, Keys: s.Keys}
	for _, list := range []struct {
		from []string
		to   *[]*url.URL
	}{{s.Aliases, &origin.Aliases}, {s.Artifacts, &origin.Artifacts}} {
		for _, address := range list.from {
			u, err := baseOf(address)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, u)
		}
	}
	return origin, nil
}

// rulesOf reads the person's rules for packages.
func rulesOf(c config.Registries) rules.Rules {
	r := rules.Rules{Quarantine: make(map[string]time.Duration)}
	for ecosystem, hours := range c.QuarantineHours {
		r.Quarantine[ecosystem] = time.Duration(hours) * time.Hour
	}
	for _, one := range c.Rules {
		r.List = append(r.List, rules.Rule{
			Ecosystem: one.Ecosystem, Name: one.Name, Version: one.Version, YoungerThan: time.Duration(one.YoungerThanHours) * time.Hour,
			InstallScript: one.InstallScript, PublisherChanged: one.PublisherChanged, ProvenanceLost: one.ProvenanceLost,
			Confusable: one.Confusable, Then: rules.Then(one.Then),
		})
	}
	return r
}
