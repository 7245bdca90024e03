package mitm

import (
	"net/url"
	"slices"
	"strings"
)

// GitHub is the name of the provider that WithGitHub adds to a table.
const GitHub = "github"

// WithGitHub returns a copy of a table with the API of a GitHub server. host is the name
// that people use for the server, such as github.com. Reading passes, and a person is
// asked about everything else.
func WithGitHub(table []Provider, host string) ([]Provider, error) {
	table = append(slices.Clone(table), Provider{
		Name:           GitHub,
		Errors:         GitHub,
		Modes:          []Mode{{Kind: KindAPIKey, Header: "authorization", Sentinel: "ghp_ironcurtain_"}},
		RequestHeaders: slices.Concat(webHeaders, []string{"time-zone", "graphql-features", "x-github-api-version", "x-github-next-global-id"}),
		Hosts:          []Host{githubHost(host)},
		API:            true,
	})
	return table, prepareAll(table)
}

// githubHost returns the server of the API. An Enterprise server has the API below two path
// prefixes, beside its web pages, and may be in a private network.
func githubHost(host string) Host {
	if host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
		return Host{Name: "api." + host}
	}
	return Host{Name: host, BaseURL: "https://" + host, Below: []string{"/api/v3", "/api/graphql"}}
}

// apiEndpoint returns the endpoint of a request to an API of which only reading passes
// without a person. It returns nil for a path that is not below the API's own, or that a
// server could read as another one.
func (h *Host) apiEndpoint(method, raw string) *Endpoint {
	decoded, err := url.PathUnescape(raw)
	if err != nil || strings.Contains(decoded, `\`) {
		return nil
	}
	for part := range strings.SplitSeq(decoded, "/") {
		if part == "." || part == ".." {
			return nil
		}
	}
	if h.Below != nil && !slices.ContainsFunc(h.Below, func(top string) bool { return raw == top || strings.HasPrefix(raw, top+"/") }) {
		return nil
	}
	return &Endpoint{Method: method, Ask: !reads(method)}
}
