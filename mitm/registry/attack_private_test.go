package registry_test

import (
	"net/url"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
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

func TestOwnsNamesInEverySpelling(t *testing.T) {
	for _, c := range []struct {
		ecosystem, scope, name string
		want                   bool
	}{
		{"npm", "@acme", "@Acme/x", true},
		{"npm", "@acme", "@acmes/x", false},
		{"npm", "inner.x", "inner-x", false},
		{"pypi", "Acme_Inner", "acme-inner", true},
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
