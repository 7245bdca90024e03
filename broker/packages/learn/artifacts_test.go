package learn

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereArtifactsAre(t *testing.T) {
	for name, c := range map[string]struct {
		ecosystem, own, kind, document string
		want                           []string // nil: an error
	}{
		"npm, beside":           {NPM, "https://npm.example/", "", `{"dist": {"tarball": "https://npm.example/npm/-/npm-1.tgz"}}`, []string{}},
		"npm, elsewhere":        {NPM, "https://npm.example/", "", `{"dist": {"tarball": "https://blobs.example/a/npm/-/npm-1.tgz"}}`, []string{"https://blobs.example/a/"}},
		"npm, by a hash":        {NPM, "https://npm.example/", "", `{"dist": {"tarball": "https://blobs.example/a/1234.tgz?x=1"}}`, []string{"https://blobs.example/a/"}},
		"npm, outside":          {NPM, "https://npm.example/api/", "", `{"dist": {"tarball": "https://npm.example/download/npm/-/npm-1.tgz"}}`, []string{"https://npm.example/download/"}},
		"npm, twice":            {NPM, "https://npm.example/", "", `{"dist": {"tarball": "https://a.example/x", "tarball": "https://b.example/x"}}`, nil},
		"npm, none":             {NPM, "https://npm.example/", "", `{"dist": []}`, nil},
		"npm, a file":           {NPM, "https://npm.example/", "", `{"dist": {"tarball": "file:///etc/passwd"}}`, nil},
		"Python, elsewhere":     {PyPI, "https://py.example/simple/", "application/vnd.pypi.simple.v1+json", `{"files": [{"url": "https://files.example/packages/ab/cd/pip-1.whl"}, {"url": "https://files.example/packages/ef/01/pip-2.whl#sha256=1"}]}`, []string{"https://files.example/packages/"}},
		"Python, two hosts":     {PyPI, "https://py.example/simple/", "application/json; charset=utf-8", `{"files": [{"url": "https://a.example/x/1"}, {"url": "https://b.example/y/2"}]}`, []string{"https://a.example/x/", "https://b.example/y/"}},
		"Python, relative":      {PyPI, "https://py.example/repo/simple/", "text/html", `<a href="../../packages/pip/1/pip-1.whl#sha256=1">x</a><p><A HREF='../../packages/pip/2/pip-2.whl'>y</A>`, []string{"https://py.example/repo/packages/"}},
		"Python, beside":        {PyPI, "https://py.example/simple/", "text/html", `<a href="pip-1.whl">x</a>`, []string{}},
		"Python, none":          {PyPI, "https://py.example/simple/", "text/html", `<a name="x">x</a>`, nil},
		"Python, no address":    {PyPI, "https://py.example/simple/", "text/html", `<a href="mailto:x@y">x</a>`, nil},
		"Python, too many":      {PyPI, "https://py.example/simple/", "text/html", `<a href="//1.example/x"><a href="//2.example/x"><a href="//3.example/x"><a href="//4.example/x"><a href="//5.example/x">`, nil},
		"Cargo, plain":          {Cargo, "https://index.example/", "", `{"dl": "https://crates.example/crates", "api": "https://api.example"}`, []string{"https://crates.example/crates/"}},
		"Cargo, with markers":   {Cargo, "https://index.example/", "", `{"dl": "https://crates.example/dl/{crate}/{version}/download"}`, []string{"https://crates.example/dl/"}},
		"Cargo, marked midword": {Cargo, "https://index.example/", "", `{"dl": "https://crates.example/dl/x-{crate}"}`, []string{"https://crates.example/dl/"}},
		"Cargo, marked host":    {Cargo, "https://index.example/", "", `{"dl": "https://{crate}.example/"}`, nil},
		"Cargo, none":           {Cargo, "https://index.example/", "", `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := url.Parse(c.own)
			if err != nil {
				t.Fatal(err)
			}
			p := probe[c.ecosystem]
			got, err := readArtifacts(c.ecosystem, []byte(c.document), c.kind, own.JoinPath(p.path), p.name)
			if c.want == nil {
				if err == nil {
					t.Fatalf("got %v", got)
				}
				return
			}
			if diff := cmp.Diff(c.want, outside(own, got)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func FuzzArtifacts(f *testing.F) {
	f.Add(byte(0), []byte(`{"dist": {"tarball": "https://a.example/npm/x"}}`))
	f.Add(byte(1), []byte(`{"files": [{"url": "https://files.example/x"}]}`))
	f.Add(byte(2), []byte(`<a href="x">`))
	f.Add(byte(3), []byte(`{"dl": "https://crates.example/{crate}"}`))
	at, err := url.Parse("https://own.example/simple/pip/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		kind := []string{"application/json", "text/html"}[which/2%2]
		ecosystem := []string{NPM, PyPI, PyPI, Cargo}[which%4]
		bases, err := readArtifacts(ecosystem, data, kind, at, "pip")
		if err == nil && (len(bases) == 0 || len(bases) > maxBases) {
			t.Errorf("%d bases", len(bases))
		}
		for _, b := range bases {
			if clean, login, err := base(b); err == nil && (clean != b || login != nil) {
				t.Errorf("%q is no base", b)
			}
		}
	})
}
