package packages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// newGoWorld is a world with a module proxy, of which one new name may be asked.
func newGoWorld(t *testing.T) (*world, *forged.Go) {
	t.Helper()
	proxy := forged.NewGo(t)
	w := newWorld(t, func(o *Options) {
		base, _ := url.Parse("https://go.example/")
		o.Origins = append(o.Origins, &registry.Origin{Ecosystem: "go", URL: base, Keys: []string{proxy.Key}})
		o.Upstreams["go.example"] = proxy.URL
		o.GitHosts = []string{"code.example"}
		o.NewNames = 1
	})
	return w, proxy
}

// A version of a Go module that no document has named carries data like a name, and is counted.
func TestVersionsThatTheAgentMadeUp(t *testing.T) {
	w, proxy := newGoWorld(t)
	proxy.Add("code.example/lib", "v1.0.0", time.Now())
	for _, path := range []string{
		"/code.example/lib/@v/v1.9.9-secret.info", "/code.example/lib/@v/v1.9.9-secret.mod", "/code.example/lib/@v/v1.9.9-secret.zip",
		"/sumdb/sums.example/lookup/code.example/lib@v1.9.9-secret",
	} {
		asked := w.decide(false)
		if a := w.getAt("go.example", path); a.status != 403 || !strings.Contains(a.phrase, "names can carry data out") {
			t.Errorf("%s: %d %s", path, a.status, a.phrase)
		}
		select {
		case <-asked:
		default:
			t.Errorf("%s: nobody was asked", path)
		}
	}
	if told := proxy.Requests(); slices.ContainsFunc(told, func(r string) bool { return strings.Contains(r, "secret") }) {
		t.Errorf("the module proxy was asked for %v", told)
	}
}

// Versions that the list, @latest, the workspace's go.mod or the go.mod of another module names
// are not counted: nobody is asked.
func TestVersionsThatOthersNamed(t *testing.T) {
	const untagged = "v0.0.0-20200101000000-abcdefabcdef"
	w, proxy := newGoWorld(t)
	mod := "module mine.example\n\nrequire code.example/pinned v1.5.0\n"
	if err := os.WriteFile(filepath.Join(w.work, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy.Add("code.example/pinned", "v1.5.0", time.Now(), "other.example/needed "+untagged)
	proxy.Add("other.example/needed", untagged, time.Now())
	proxy.Add("code.example/lib", "v1.0.0", time.Now())
	proxy.Add("code.example/lib", "v1.1.0", time.Now())
	for _, path := range []string{
		"/code.example/pinned/@v/v1.5.0.mod",
		"/other.example/needed/@v/" + untagged + ".mod",
		"/code.example/lib/@v/v1.0.0.info",
		"/sumdb/sums.example/lookup/code.example/lib@v1.1.0",
	} {
		if a := w.getAt("go.example", path); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.phrase)
		}
	}
}

// The bytes of a version stay the same, also when its registry moves its archive elsewhere: the
// address may have the digest in it.
func TestMovedArchivesHaveTheSameBytes(t *testing.T) {
	crates, others := forged.NewCargo(t), forged.NewCargo(t)
	crates.Add("some", "1.0.0", old(), nil)
	others.Add("some", "1.0.0", old(), map[string]string{"evil": "1"})
	wheels, evil := forged.NewPyPI(t), forged.NewPyPI(t)
	wheels.Add("some", "1.0.0", old())
	evil.Add("some", "1.0.0", old(), "evil")
	for _, c := range []struct {
		ecosystem, documents, path string
		first, second              http.Handler
		public, secondPublic       *string
	}{
		{"cargo", "index/", "dl/some/1.0.0/download", crates, others, &crates.Public, &others.Public},
		{"pypi", "simple/", "files/some-1.0.0-py3-none-any.whl", wheels, evil, &wheels.Public, &evil.Public},
	} {
		t.Run(c.ecosystem, func(t *testing.T) {
			var serving atomic.Pointer[http.Handler]
			serving.Store(&c.first)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = strings.ReplaceAll(r.URL.Path, "/moved", "")
				(*serving.Load()).ServeHTTP(w, r)
			}))
			defer server.Close()
			host := c.ecosystem + ".example"
			w := newWorld(t, func(o *Options) {
				documents, _ := url.Parse("https://" + host + "/" + c.documents)
				artifacts, _ := url.Parse("https://" + host + "/")
				o.Origins = append(o.Origins, &registry.Origin{Ecosystem: c.ecosystem, URL: documents, Artifacts: []*url.URL{artifacts}})
				o.Upstreams[host], _ = url.Parse(server.URL)
			})
			get := func(at string) *answer {
				if c.ecosystem == "pypi" { // whose files are found by the page that was delivered
					w.getAt(host, "/simple/some/")
				}
				return w.getAt(host, at+c.path)
			}
			if a := get("/"); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.phrase)
			}
			*c.public = "https://" + host + "/moved/"
			if a := get("/moved/"); a.status != 200 {
				t.Errorf("the same bytes elsewhere: %d %s", a.status, a.phrase)
			}
			*c.secondPublic = "https://" + host + "/moved/moved/"
			serving.Store(&c.second)
			if a := get("/moved/moved/"); a.status != 403 || !strings.Contains(a.phrase, "differ from those that this machine got") {
				t.Errorf("other bytes elsewhere: %d %s", a.status, a.phrase)
			}
		})
	}
}
