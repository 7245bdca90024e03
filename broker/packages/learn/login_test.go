package learn

import (
	"path/filepath"
	"strings"
	"testing"
)

// Each login is found where its reference says, for its own address.
func TestLogin(t *testing.T) {
	w := everyTool(t)
	write(t, filepath.Join(w.home, ".netrc"), "machine netrc.example login me password netrcpw\nmachine http.example login me password x")
	write(t, filepath.Join(w.home, ".cargo/credentials.toml"), "[registry]\ntoken = 'of the default one'\n[registries.acme]\ntoken = 'cargo token'\n[registries.odd]\ntoken = \"a\\nb\"")
	write(t, filepath.Join(w.home, ".config/uv/uv.toml"), `index-url = "https://uv:uvpw@uv.example/simple"`)
	h := w.host("NPM_CONFIG_MY_TOKEN=token")
	for name, c := range map[string]struct {
		source Source
		want   string // begins with "error:" for one
	}{
		"none":                    {Source{URL: "https://npm.acme.example/"}, ""},
		"npmrc":                   {Source{URL: "http://npm.acme.example/", Credential: "npmrc", Private: true}, "Bearer token"},
		"npmrc, another host":     {Source{URL: "https://npm.example/", Credential: "npmrc"}, "error: npmrc has no login"},
		"netrc":                   {Source{URL: "https://netrc.example/go/", Credential: "netrc"}, basic("me", "netrcpw")},
		"netrc, another host":     {Source{URL: "https://other.example/", Credential: "netrc"}, "error: has no login"},
		"in plain text":           {Source{URL: "http://http.example/", Credential: "netrc"}, "error: the login would be sent without encryption"},
		"in plain text, private":  {Source{URL: "http://http.example/", Credential: "netrc", Private: true}, basic("me", "x")},
		"pip":                     {Source{URL: "http://extra.example/simple/", Credential: "pip", Private: true}, basic("me", "pypipw")},
		"pip, another path":       {Source{URL: "http://extra.example/other/", Credential: "pip", Private: true}, "error: has no login"},
		"uv":                      {Source{URL: "https://uv.example/simple/", Credential: "uv"}, basic("uv", "uvpw")},
		"go":                      {Source{URL: "http://go2.example/", Credential: "go", Private: true}, basic("gopher", "gopw")},
		"go, without":             {Source{URL: "http://go.example/", Credential: "go", Private: true}, "error: has no login"},
		"cargo":                   {Source{URL: "https://cargo.example/", Credential: "cargo", Name: "acme"}, "cargo token"},
		"cargo, the default one":  {Source{URL: "https://cargo.example/", Credential: "cargo"}, "error: has no login"},
		"with a line's end":       {Source{URL: "https://cargo.example/", Credential: "cargo", Name: "odd"}, "error: the login has characters"},
		"by nobody":               {Source{URL: "https://cargo.example/", Credential: "else"}, "error: unknown credential"},
		"of names without a host": {Source{Credential: "go"}, "error: the source has no address"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h.Login(t.Context(), c.source)
			if why, fails := strings.CutPrefix(c.want, "error: "); fails {
				if err == nil || got != "" || !strings.Contains(err.Error(), why) {
					t.Errorf("got %q, %v; want the error %q", got, err, why)
				}
				return
			}
			if got != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
