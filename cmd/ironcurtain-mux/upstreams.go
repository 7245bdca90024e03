package main

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// upstreamFlags send the requests for a provider's host elsewhere. Only flags and
// config.json can do that; no environment variable and no file of a checkout can.
type upstreamFlags struct {
	hosts []string // as HOST=URL
	ca    string
}

func (f *upstreamFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.hosts, "upstream", nil, "send requests for a host elsewhere, as `HOST=URL`")
	fl.StringVar(&f.ca, "upstream-ca", "", "`file` with further certificate authorities of upstream servers, in PEM")
}

// upstreams is where requests go instead.
type upstreams struct {
	hosts map[string]*url.URL
	roots *x509.CertPool // nil for the system's
}

// read checks the flags against the table of providers.
func (f upstreamFlags) read(table []mitm.Provider) (upstreams, error) {
	u := upstreams{hosts: make(map[string]*url.URL)}
	for _, s := range f.hosts {
		host, text, ok := strings.Cut(s, "=")
		base, err := url.Parse(text)
		if !ok || err != nil || base.Host == "" {
			return u, usagef("--upstream %q is not HOST=URL", s)
		}
		host = strings.ToLower(host)
		if !knownHost(table, host) {
			return u, usagef("--upstream: %s is no host of a provider (see 'ironcurtain-mux config show --schema' for adding providers)", host)
		}
		u.hosts[host] = base
	}
	if f.ca == "" {
		return u, nil
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return u, fail("read the upstream's certificate authorities", err, "give --upstream-ca a file in PEM")
	}
	if u.roots, err = x509.SystemCertPool(); err != nil {
		u.roots = x509.NewCertPool()
	}
	if !u.roots.AppendCertsFromPEM(pem) {
		return u, fail("read the upstream's certificate authorities", fmt.Errorf("%s holds no certificate in PEM", f.ca), "give --upstream-ca a file in PEM")
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
