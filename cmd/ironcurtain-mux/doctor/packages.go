package doctor

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// reachTime is how long a package registry may take to accept a connection.
const reachTime = 5 * time.Second

// checkPackages shows from which registries agents install packages, and which of these cannot
// be reached. It does not ask the tools of this machine; the first session does.
func checkPackages(ctx context.Context, p wiring.Paths) finding {
	c, err := p.Config()
	switch {
	case err != nil:
		return warn("fix config.json first", "unknown without the configuration")
	case !c.Registries.Enabled:
		return ok("agents cannot install packages: registries.enabled is false")
	}
	learned, known, err := learn.Load(p.RegistriesFile())
	if err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	sources := learn.Effective(c.Registries.Sources, learned)
	if !known && len(sources) == 0 {
		return ok("the first session asks this machine's tools for their registries")
	}
	var kinds, missing []string
	for _, s := range sources {
		if !slices.Contains(kinds, s.Ecosystem) {
			kinds = append(kinds, s.Ecosystem)
		}
		for _, key := range s.Keys {
			if _, err := os.Stat(key); s.Ecosystem == learn.Apt && err != nil {
				missing = append(missing, key)
			}
		}
	}
	switch away, inside := unreachable(ctx, netguard.Dialer{}, sources); {
	case len(kinds) == 0:
		return warn("configure a package manager of this machine and run 'ironcurtain-mux registry learn --write'", "agents cannot install packages: no tool of this machine names a registry")
	case len(missing) > 0:
		return warn("install the keyrings, or correct keys in registries.sources", "keyrings are missing: %s", strings.Join(missing, ", "))
	case len(inside) > 0:
		return warn(`set "private": true for such a source in registries.sources of config.json if it is your own mirror`, "agents cannot reach these registries, because their addresses are not public: %s", strings.Join(inside, ", "))
	case len(away) > 0:
		return warn("check the network, and what 'ironcurtain-mux registry learn' shows", "these registries cannot be reached: %s", strings.Join(away, ", "))
	}
	return ok("agents install from %s", strings.Join(kinds, ", "))
}

// unreachable returns the registries to which no connection can be made in the way in which it is
// made for agents. inside are those with addresses that are refused because the configuration does
// not mark them as private; away are all others.
func unreachable(ctx context.Context, d netguard.Dialer, sources []learn.Source) (away, inside []string) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	failed := make([]error, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" {
			continue
		}
		all.Go(func() {
			failed[i] = dial(ctx, d, u, s.Private)
		})
	}
	all.Wait()
	for i, s := range sources {
		var refused *netguard.AddressError
		switch {
		case failed[i] == nil:
		case errors.As(failed[i], &refused) && refused.Private():
			inside = append(inside, s.URL)
		default:
			away = append(away, s.URL)
		}
	}
	return away, inside
}

// dial connects to a registry. A registry that is named by its address may be in the person's
// network.
func dial(ctx context.Context, d netguard.Dialer, u *url.URL, private bool) error {
	inside, err := agent.ContainerAddress(u.String())
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	conn, err := d.DialHost(ctx, net.JoinHostPort(u.Hostname(), port), private || inside != u.String())
	if err != nil {
		return err
	}
	return conn.Close()
}
