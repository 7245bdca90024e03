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
	first, second := forged.NewCargo(t), forged.NewCargo(t)
	first.Add("crate-a", "1.0.0", old(), nil)
	second.Add("crate-a", "1.0.0", old(), map[string]string{"evil": "1"})
	var serving atomic.Pointer[forged.Cargo]
	serving.Store(first)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, "/moved", "")
		serving.Load().ServeHTTP(w, r)
	}))
	defer server.Close()
	w := newWorld(t, func(o *Options) {
		index, _ := url.Parse("https://cargo.example/index/")
		artifacts, _ := url.Parse("https://cargo.example/")
		o.Origins = append(o.Origins, &registry.Origin{Ecosystem: "cargo", URL: index, Artifacts: []*url.URL{artifacts}})
		o.Upstreams["cargo.example"], _ = url.Parse(server.URL)
	})
	if a := w.getAt("cargo.example", "/dl/crate-a/1.0.0/download"); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.phrase)
	}
	first.Public = "https://cargo.example/moved/"
	if a := w.getAt("cargo.example", "/moved/dl/crate-a/1.0.0/download"); a.status != 200 {
		t.Errorf("the same bytes elsewhere: %d %s", a.status, a.phrase)
	}
	second.Public = "https://cargo.example/moved/moved/"
	serving.Store(second)
	if a := w.getAt("cargo.example", "/moved/moved/dl/crate-a/1.0.0/download"); a.status != 403 || !strings.Contains(a.phrase, "not those that this machine had") {
		t.Errorf("other bytes elsewhere: %d %s", a.status, a.phrase)
	}
}
