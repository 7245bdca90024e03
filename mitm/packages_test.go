package mitm

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// A registry without encryption is reached by absolute targets and, as yarn 4 does it, through
// a tunnel without TLS; at its own port only, and by no other name.
func TestPlainRegistries(t *testing.T) {
	plane, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Close)
	way := plane.NewSession(registry.SessionConfig{
		Record: func(registry.Record) error { return nil },
		Note:   func(registry.Record) {},
	})
	t.Cleanup(way.Close)
	s := newHarness(t, func(c *Config) {
		c.Packages, c.Registries = way, []string{"http://npm.example:4873"}
	})
	const (
		host        = "Host: npm.example:4873\r\n"
		tunnel      = "CONNECT npm.example:4873 HTTP/1.1\r\n" + host + "\r\n"
		established = "HTTP/1.1 200 Connection Established\r\n\r\n"
		asked       = "X-Ironcurtain-Denied: registry-" // the session of the plane answered
	)
	for _, tc := range []struct {
		name, sent string
		want       []string
	}{
		{"absolute", "GET http://npm.example:4873/left HTTP/1.1\r\n" + host + "\r\n", []string{"HTTP/1.1 ", asked}},
		{"in a tunnel", tunnel + "GET /left HTTP/1.1\r\n" + host + "\r\n", []string{established + "HTTP/1.1 ", asked}},
		{"twice in a tunnel", tunnel + strings.Repeat("GET /left HTTP/1.1\r\n"+host+"\r\n", 2), []string{established, asked, "\r\n\r\n", asked}},
		{"another name in a tunnel", tunnel + "GET /left HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n", []string{established + "HTTP/1.1 400", string(ReasonHostMismatch)}},
		{"absolute in a tunnel", tunnel + "GET http://npm.example:4873/left HTTP/1.1\r\n" + host + "\r\n", []string{established + "HTTP/1.1 400"}},
		{"another port", strings.ReplaceAll(tunnel, "4873", "443"), []string{"HTTP/1.1 403", string(ReasonConnectHost)}},
		{"without a tunnel", "GET /left HTTP/1.1\r\n" + host + "\r\n", []string{"HTTP/1.1 405"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := s.raw(tc.sent)
			rest := got
			for _, want := range tc.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing from\n%s", want, got)
				}
				rest = after
			}
		})
	}
}
