package pypi

import (
	"context"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// asked notes which documents are fetched.
type asked struct {
	upstream
	paths []string
}

func (a *asked) Document(ctx context.Context, o *registry.Origin, path, accept string) (*registry.Document, error) {
	a.paths = append(a.paths, path)
	return a.upstream.Document(ctx, o, path, accept)
}

func TestArtifactsAreKnownByTheirDocument(t *testing.T) {
	u := upstream{
		"simple/foo/":   strings.ReplaceAll(simple("foo-1-2.tar.gz"), "files.example/", "files.example/p/"),
		"simple/bar/":   `text/html <a href="../../p/bar-1.0%2Bx-py3-none-any.whl">bar</a>`,
		"simple/b-1/":   simple("b-1.0.tar.gz"),
		"simple/torch/": `text/html <a href="p/torch-1.0%2Bcpu-py3-none-any.whl#sha256=` + sha + `" data-core-metadata="true">torch</a>`,
	}
	for _, tc := range []struct{ base, path, want, fetched string }{
		{"https://files.example/", "p/foo-1-2.tar.gz", "foo 1.post2", "simple/foo/"},
		{"https://files.example/", "foo-1-2.tar.gz", "registry-unlisted", "simple/foo/"},
		{"https://files.example/", "p/foo-1.0.tar.gz", "registry-unlisted", "simple/foo/"},
		{"https://files.example/", "p/foo-1-2.tar.gz.metadata", "registry-unlisted", "simple/foo/"},
		{"https://files.example/", "p/gone-1.0.tar.gz", "registry-not-found", "simple/gone/"},
		{"https://pypi.example/", "p/bar-1.0+x-py3-none-any.whl", "bar 1.0+x", "simple/bar/"},
		{"https://pypi.example/", "simple/torch/p/torch-1.0%2Bcpu-py3-none-any.whl.metadata", "torch 1.0+cpu small", "simple/torch/"},
	} {
		o := index(t)
		f := &asked{upstream: u}
		a, err := get(t, o, tc.base, tc.path, "")
		if err != nil {
			t.Fatal(err)
		}
		facts, err := Ecosystem{}.Facts(t.Context(), f, o, a)
		if got := strings.Join(f.paths, " "); got != tc.fetched {
			t.Errorf("%s: fetched %s", tc.path, got)
		}
		if err != nil {
			if !strings.HasPrefix(tc.want, "registry-") {
				t.Errorf("%s: %v", tc.path, err)
				continue
			}
			registrytest.Refused(t, err, registry.Reason(tc.want))
			continue
		}
		v, file := facts.File(a.URL())
		got := facts.Name + " " + v.Version
		if file.Of != "" {
			got += " small"
		}
		if got != tc.want {
			t.Errorf("%s: %s", tc.path, got)
		}
	}
}

func TestIndexesAtOtherPlaces(t *testing.T) {
	doc := `text/html <a href="../foo-1.0.tar.gz">foo</a>`
	for _, tc := range []struct{ url, path, fetched string }{
		{"https://mirror.example/api/simple/", "foo/", "foo/"},
		{"https://mirror.example/api/simple/", "foo-1.0.tar.gz", "foo/"},
		{"https://mirror.example/root/+simple/", "foo-1.0.tar.gz", "foo/"},
		{"https://wheels.example/whl/cpu/", "foo-1.0.tar.gz", "simple/foo/ foo/"},
		{"https://wheels.example/whl/cpu/", "foo/", "simple/foo/ foo/"},
	} {
		o := &registry.Origin{URL: address(t, tc.url)}
		f := &asked{upstream: upstream{"foo/": doc}}
		a, err := get(t, o, tc.url, tc.path, "")
		if err != nil {
			t.Fatal(err)
		}
		facts, err := Ecosystem{}.Facts(t.Context(), f, o, a)
		if err != nil || len(facts.Versions) != 1 || strings.Join(f.paths, " ") != tc.fetched {
			t.Errorf("%s: %v %v", tc.url, err, f.paths)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tc := range []struct{ url, name, want string }{
		{"https://pypi.example/", "Foo_Bar", "foo-bar simple/foo-bar/"},
		{"https://mirror.example/api/simple/", "foo", "foo foo/"},
	} {
		a, err := Ecosystem{}.Lookup(&registry.Origin{URL: address(t, tc.url)}, tc.name, "1.0")
		if err != nil || a.Name+" "+a.Path != tc.want || a.Form != formJSON {
			t.Errorf("%s: %+v %v", tc.url, a, err)
		}
	}
	for _, name := range []string{"", "../x", "foo/", "f\u00f6", "-x"} {
		_, err := Ecosystem{}.Lookup(index(t), name, "1.0")
		registrytest.Refused(t, err, registry.ReasonPath)
	}
}
