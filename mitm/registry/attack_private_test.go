package registry_test

import (
	"net/url"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/pypi"
)

// A private name stays private in every spelling: the public registry's log stays empty.
func TestPrivateNamesInEverySpelling(t *testing.T) {
	private, _ := url.Parse("https://private.example/")
	w := newWorld(t, func(c *registry.Config) {
		c.Origins = append(c.Origins, &registry.Origin{Ecosystem: "npm", URL: private, Scopes: []string{"@acme"}, Private: true})
		c.Reserved = map[string][]string{"npm": {"secret", "inner-*"}}
	})
	for _, path := range []string{
		"/@acme/x", "/@acme%2fx", "/@acme%2Fx", "/@ACME/x", "/@Acme%2fx", "/@acme/X", "/@acme/x/1.0.0", "/@AcMe/x/latest",
		"/@acme/x/-/x-1.0.0.tgz", "/@ACME/x/-/x-1.0.0.tgz", "/download/@acme/x/1.0.0/ab", "/download/@ACME/x/1.0.0/ab",
		"/-/package/@acme/x/dist-tags", "/-/package/@ACME%2fx/dist-tags", "/secret", "/SECRET", "/Secret/1.0.0", "/inner-a", "/INNER-a",
		"/@%61cme/x", "/%40acme/x", "/@acme%252fx", "/@acme//x", "/./@acme/x", "/@acme/x?y", "/@acme/x;y", "/s%65cret",
	} {
		t.Run(path, func(t *testing.T) {
			before, _ := w.npm.Requests()
			if a := w.get(path); a.status != 404 && a.status != 403 {
				t.Errorf("status %d %s", a.status, a.phrase)
			}
			if log, _ := w.npm.Requests(); len(log) != len(before) {
				t.Errorf("the public registry was asked: %v", log)
			}
		})
	}
	w.addLeft()
	if a := w.get("/left"); a.status != 200 {
		t.Errorf("an honest name: %d %s", a.status, a.phrase)
	}
}

// What a private Python index has is not asked for at a public one, in no spelling and as no file.
func TestPrivatePythonIndex(t *testing.T) {
	for _, c := range []struct {
		name, path string
		scopes     []string
		away       bool // the private index
		status     int
		asked      bool // the public one
	}{
		{"the project", "/simple/acme/", nil, false, 404, false},
		{"another spelling", "/simple/Acme/", nil, false, 404, false},
		{"poetry's", "/pypi/acme/json", nil, false, 404, false},
		{"a file", "/files/acme-2.0-py3-none-any.whl", nil, false, 404, false},
		{"its metadata", "/files/ACME-2.0-py3-none-any.whl.metadata", nil, false, 404, false},
		{"an archive", "/files/acme-2.0.tar.gz", nil, false, 404, false},
		{"a public one", "/simple/left/", nil, false, 200, true},
		{"a public file", "/files/left-1.0-py3-none-any.whl", nil, false, 200, true},
		{"a public one, while nobody knows", "/simple/left/", nil, true, 502, false},
		{"a public one beside scopes", "/simple/left/", []string{"ac-*"}, true, 200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			public, private := forged.NewPyPI(t), forged.NewPyPI(t)
			public.Add("left", "1.0", old())
			public.Add("acme", "2.0", old())
			private.Public = "https://private.example/"
			private.Add("acme", "1.0", old())
			w := newWorld(t, func(cfg *registry.Config) {
				one, _ := url.Parse("https://pypi.example/")
				two, _ := url.Parse("https://private.example/")
				cfg.Ecosystems = append(cfg.Ecosystems, pypi.Ecosystem{})
				cfg.Origins = []*registry.Origin{{Ecosystem: "pypi", URL: one}, {Ecosystem: "pypi", URL: two, Private: true, Scopes: c.scopes}}
				cfg.Upstreams = map[string]*url.URL{"pypi.example": public.URL, "private.example": private.URL}
				if c.away {
					cfg.Upstreams["private.example"], _ = url.Parse("http://127.0.0.1:1")
				}
			})
			at := func(host string) func(*registry.HTTPRequest) {
				return func(r *registry.HTTPRequest) { r.Authority = "https://" + host + ":443" }
			}
			if a := w.get(c.path, at("pypi.example")); a.status != c.status {
				t.Errorf("%d %s", a.status, a.phrase)
			}
			if asked := public.Requests(); len(asked) > 0 != c.asked {
				t.Errorf("the public index was asked for %v", asked)
			}
			if a := w.get("/simple/acme/", at("private.example")); !c.away && a.status != 200 {
				t.Errorf("at the private index: %d %s", a.status, a.phrase)
			}
		})
	}
}

func TestOwnsNamesInEverySpelling(t *testing.T) {
	for _, c := range []struct {
		ecosystem, scope, name string
		want                   bool
	}{
		{"npm", "@acme", "@Acme/x", true},
		{"npm", "@acme", "@acmes/x", false},
		{"npm", "inner.x", "inner-x", false},
		{"pypi", "Acme_Inner", "acme-inner", true},
		{"pypi", "Acme__Inner", "acme-inner", true},
		{"pypi", "acme-_.*", "acme-inner", true},
		{"pypi", "acme.*", "acme-inner", true},
		{"pypi", "acme-inner", "acme-innermost", false},
		{"cargo", "acme-inner", "acme_inner", true},
		{"go", "corp.example/Private", "corp.example/private/x", true},
		{"go", "corp.example", "corp.example.other/x", false},
		{"go", "*.corp.example", "git.corp.example/secret/x", true},
		{"go", "*.corp.example", "git.Corp.example", true},
		{"go", "*.corp.example", "corp.example/x", false},
		{"go", "code.example/*/inner", "code.example/team/inner/v2", true},
		{"go", "code.example/*/inner", "code.example/team/outer", false},
		{"go", "corp.example/", "corp.example/x", true},
		{"go", "*.corp.example/", "git.corp.example/x/v2", true},
		{"go", "code.example/*/inner/", "code.example/team/inner", true},
		{"go", "/", "code.example/x", false},
		{"go", "code.example/acme*", "code.example/acme-tools/x", true},
	} {
		t.Run(c.ecosystem+" "+c.name, func(t *testing.T) {
			o := &registry.Origin{Ecosystem: c.ecosystem, Scopes: []string{c.scope}}
			if got := o.Owns(c.name); got != c.want {
				t.Errorf("%q owns %q: %v", c.scope, c.name, got)
			}
		})
	}
}
