package wiring

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// UpstreamFlags send the requests for a provider's host to another address. Only flags and
// config.json can do that, and no environment variable or file of a project.
type UpstreamFlags struct {
	hosts []string // as HOST=URL
	ca    string
}

// Register adds the flags to a command.
func (f *UpstreamFlags) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.hosts, "upstream", nil, "send requests for a host elsewhere, as `HOST=URL`")
	fl.StringVar(&f.ca, "upstream-ca", "", "`file` with further certificate authorities of upstream servers, in PEM")
}

// Upstreams is where requests go instead.
type Upstreams struct {
	Hosts map[string]*url.URL
	Roots *x509.CertPool // nil for the system's
}

// Read checks the flags against the table of providers.
func (f UpstreamFlags) Read(table []mitm.Provider) (Upstreams, error) {
	u := Upstreams{Hosts: make(map[string]*url.URL)}
	for _, s := range f.hosts {
		host, text, ok := strings.Cut(s, "=")
		base, err := url.Parse(text)
		if !ok || err != nil || base.Host == "" {
			return u, cli.Usagef("--upstream %q is not HOST=URL", s)
		}
		host = strings.ToLower(host)
		if !knownHost(table, host) {
			return u, cli.Usagef("--upstream: %s is not a host of a provider (see 'ironcurtain-mux config show --schema' for adding providers)", host)
		}
		u.Hosts[host] = base
	}
	if f.ca == "" {
		return u, nil
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return u, cli.Fail("read the upstream's certificate authorities", err, "give --upstream-ca a file in PEM")
	}
	if u.Roots, err = x509.SystemCertPool(); err != nil {
		u.Roots = x509.NewCertPool()
	}
	if !u.Roots.AppendCertsFromPEM(pem) {
		return u, cli.Fail("read the upstream's certificate authorities", fmt.Errorf("%s contains no certificate in PEM", f.ca), "give --upstream-ca a file in PEM")
	}
	return u, nil
}

func knownHost(table []mitm.Provider, host string) bool {
	for _, p := range table {
		for _, h := range p.Hosts {
			if h.Name == host {
				return true
			}
		}
	}
	return false
}
