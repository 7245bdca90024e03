package forged

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Cargo is a registry of crates: a sparse index below /index/, archives below /dl/.
type Cargo struct {
	// URL is the registry's address; its config.json says that the archives are below Public.
	URL    *url.URL
	Public string

	mu       sync.Mutex
	index    map[string][]byte // by name
	archives map[string][]byte // by path below /dl/
	requests []string
}

// NewCargo starts a registry, which ends with the test.
func NewCargo(t testing.TB) *Cargo {
	t.Helper()
	c := &Cargo{Public: "https://cargo.example/", index: make(map[string][]byte), archives: make(map[string][]byte)}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL, _ = url.Parse(server.URL)
	return c
}

// Add adds a version of a crate with a function version(). needs are its dependencies: requirements by
// name.
func (c *Cargo) Add(name, version string, published time.Time, needs map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	manifest := "[package]\nname = \"" + name + "\"\nversion = \"" + version + "\"\nedition = \"2021\"\n\n[dependencies]\n"
	deps := []map[string]any{}
	for _, other := range slices.Sorted(maps.Keys(needs)) {
		manifest += other + " = \"" + needs[other] + "\"\n"
		deps = append(deps, map[string]any{"name": other, "req": needs[other], "features": []string{}, "optional": false, "default_features": true, "target": nil, "kind": "normal"})
	}
	archive := tarball(name+"-"+version+"/", map[string]string{"Cargo.toml": manifest, "src/lib.rs": "pub fn version() -> &'static str { \"" + version + "\" }\n"})
	line, _ := json.Marshal(map[string]any{
		"name": name, "vers": version, "deps": deps, "cksum": digest(archive),
		"features": map[string]any{}, "yanked": false, "pubtime": published.UTC().Format(time.RFC3339),
	})
	c.index[name] = append(append(c.index[name], line...), '\n')
	c.archives[name+"/"+version+"/download"] = archive
}

// Digest returns the SHA-256 of a version's archive, in hex.
func (c *Cargo) Digest(name, version string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return digest(c.archives[name+"/"+version+"/download"])
}

// Requests lists the requests so far, as "GET /path".
func (c *Cargo) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// ServeHTTP serves the index and the archives.
func (c *Cargo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r.Method+" "+r.URL.RequestURI())
	path, isIndex := strings.CutPrefix(r.URL.Path, "/index/")
	body := c.archives[strings.TrimPrefix(r.URL.Path, "/dl/")]
	switch {
	case path == "config.json":
		body, _ = json.Marshal(map[string]string{"dl": c.Public + "dl"})
	case isIndex:
		body = c.index[path[strings.LastIndexByte(path, '/')+1:]]
	}
	if body == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(body)
}
