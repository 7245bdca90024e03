package packages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// newPythonWorld is a world with a Python index that answers by path, with pages in HTML.
func newPythonWorld(t *testing.T, change func(*Options)) (*world, *atomic.Pointer[map[string]string]) {
	t.Helper()
	var pages atomic.Pointer[map[string]string]
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, there := (*pages.Load())[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(index.Close)
	w := newWorld(t, func(o *Options) {
		base, _ := url.Parse("https://pypi.example/")
		o.Origins = append(o.Origins, &registry.Origin{Ecosystem: "pypi", URL: base})
		o.Upstreams["pypi.example"], _ = url.Parse(index.URL)
		o.Rules.Quarantine["pypi"] = 72 * time.Hour
		if change != nil {
			change(o)
		}
	})
	return w, &pages
}

// wheelOf packs version 1.0 of foo with some content.
func wheelOf(content string) string {
	const info = "foo-1.0.dist-info/"
	return string(forged.Wheel("foo.py", content, info+"METADATA", "Metadata-Version: 2.1\nName: foo\nVersion: 1.0\n\n",
		info+"WHEEL", "Wheel-Version: 1.0\n", info+"RECORD", ""))
}

// Other bytes for a version that this machine has had are refused, wherever the registry now says
// that they are.
func TestSubstitutedAtAnotherAddress(t *testing.T) {
	t.Run("npm", func(t *testing.T) {
		w := newWorld(t, nil)
		w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old()})
		if a := w.get("/left/-/left-1.0.0.tgz"); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.phrase)
		}
		evil := forged.NewNPM(t)
		evil.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old(), Manifest: map[string]any{"scripts": map[string]string{"install": "evil"}}})
		evil.Change(func(_ string, body []byte) []byte {
			return []byte(strings.Replace(string(body), "/-/left-1.0.0.tgz", "/-/again/left-1.0.0.tgz", 1))
		})
		w.npm.Change(func(path string, _ []byte) []byte {
			got := httptest.NewRecorder()
			evil.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/"+strings.Replace(path, "/again", "", 1), nil))
			return got.Body.Bytes()
		})
		if a := w.get("/left/-/again/left-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "got before") {
			t.Errorf("%d %s", a.status, a.phrase)
		}
	})
	t.Run("pypi", func(t *testing.T) {
		const file = "foo-1.0-py3-none-any.whl"
		w, pages := newPythonWorld(t, func(o *Options) { o.Rules.Quarantine["pypi"] = 0 })
		pages.Store(&map[string]string{"/simple/foo/": `<a href="/a/` + file + `">foo</a>`, "/a/" + file: wheelOf("")})
		if a := w.getAt("pypi.example", "/a/"+file); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.phrase)
		}
		pages.Store(&map[string]string{"/simple/foo/": `<a href="/b/` + file + `">foo</a>`, "/b/" + file: wheelOf("evil")})
		if a := w.getAt("pypi.example", "/b/"+file); a.status != 403 || !strings.Contains(a.phrase, "got before") {
			t.Errorf("%d %s", a.status, a.phrase)
		}
	})
}

// A version that its registry has said to be new does not become old because the registry says
// otherwise, or says nothing; nor is one older than all registries.
func TestBackdatedVersion(t *testing.T) {
	for name, then := range map[string]string{"years before": old().Format(time.RFC3339), "the beginning of a clock": "1970-01-01T00:00:00.000Z", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old()})
			w.npm.Add("left", forged.NPMVersion{Version: "2.0.0", Published: young()})
			if a := w.get("/left"); a.status != 200 || strings.Contains(a.body.String(), "2.0.0") {
				t.Fatalf("%d %s", a.status, &a.body)
			}
			times := regexp.MustCompile(`"2\.0\.0":"[^"]*Z"`)
			w.npm.Change(func(_ string, body []byte) []byte { return times.ReplaceAll(body, []byte(`"2.0.0":"`+then+`"`)) })
			if a := w.get("/left"); a.status != 200 || strings.Contains(a.body.String(), `"2.0.0":{`) || !strings.Contains(a.body.String(), `"1.0.0":{`) {
				t.Errorf("%d %s", a.status, &a.body)
			}
			w.decide(false)
			if a := w.get("/left/-/left-2.0.0.tgz"); a.status != 403 {
				t.Errorf("%d", a.status)
			}
		})
	}
}

// A lockfile pins a version in each spelling: it waits for a person, and is not hidden.
func TestPinInAnotherSpelling(t *testing.T) {
	for pinned, status := range map[string]int{"1.0": 200, "1.0.0.0": 200, "v1": 200, "1.0.1": 404, "1.0+x": 404} {
		w, pages := newPythonWorld(t, nil)
		if err := os.WriteFile(filepath.Join(w.work, "requirements.txt"), []byte("Foo=="+pinned+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		pages.Store(&map[string]string{"/simple/foo/": `<a href="/foo-1.0.0-py3-none-any.whl">foo</a>`})
		if a := w.getAt("pypi.example", "/simple/foo/"); a.status != status {
			t.Errorf("%s: %d %s", pinned, a.status, a.phrase)
		}
	}
}

// A version that a rule denies is denied in each spelling.
func TestRuleAboutAnotherSpelling(t *testing.T) {
	for version, status := range map[string]int{"1.0": 403, "1": 403, "v1.0.0": 403, "1.0*": 403, "1.0.0": 403, "1.0.1": 200, "1.0+x": 200, "1!1.0": 200, "": 403} {
		w, pages := newPythonWorld(t, func(o *Options) {
			o.Rules.Quarantine["pypi"] = 0
			o.Rules.List = []rules.Rule{{Ecosystem: "pypi", Name: "Foo", Version: version, Then: rules.Deny}}
		})
		const file = "foo-1.0.0-py3-none-any.whl"
		pages.Store(&map[string]string{"/simple/foo/": `<a href="/` + file + `">foo</a>`, "/" + file: wheelOf("")})
		if a := w.getAt("pypi.example", "/"+file); a.status != status {
			t.Errorf("%q: %d %s", version, a.status, a.phrase)
		}
	}
}

// A file without a time that is added to a version which this machine has known for long is
// young, and so is its version.
func TestFileAddedToAnOldVersion(t *testing.T) {
	const first, added = "foo-1.0-py3-none-any.whl", "foo-1.0-1-py3-none-any.whl"
	w, pages := newPythonWorld(t, nil)
	w.host.ledger.Close()
	line, _ := json.Marshal(entry{Chain: strings.Repeat("0", 64), Origin: "https://pypi.example/", Name: "foo", Version: "1", Seen: old(), Files: []string{first}})
	path := filepath.Join(w.dir, "packages.ledger")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s\n", line), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.host.ledger, err = OpenLedger(path, false); err != nil {
		t.Fatal(err)
	}
	pages.Store(&map[string]string{"/simple/foo/": `<a href="/` + first + `">foo</a>`, "/" + first: wheelOf("")})
	if a := w.getAt("pypi.example", "/"+first); a.status != 200 {
		t.Errorf("an old version: %d %s", a.status, a.phrase)
	}
	pages.Store(&map[string]string{"/simple/foo/": `<a href="/` + first + `">foo</a><a href="/` + added + `">foo</a>`, "/" + added: wheelOf("evil")})
	w.decide(false)
	if a := w.getAt("pypi.example", "/"+added); a.status != 403 || !strings.Contains(a.phrase, "younger than 3 days") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if a := w.getAt("pypi.example", "/simple/foo/"); a.status != 404 {
		t.Errorf("%d %s", a.status, &a.body)
	}
}
