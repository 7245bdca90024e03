package forged

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
)

// Go is a module proxy with a checksum database.
type Go struct {
	URL *url.URL
	Key string // verifier key of the database

	mu       sync.Mutex
	files    map[string][]byte // by path
	requests []string
	database http.Handler
}

const goDatabase = "sums.example"

// NewGo starts a proxy, which ends with the test.
func NewGo(t testing.TB) *Go {
	t.Helper()
	signer, verifier, err := note.GenerateKey(rand.Reader, goDatabase)
	if err != nil {
		t.Fatal(err)
	}
	g := &Go{Key: verifier, files: make(map[string][]byte)}
	g.database = http.StripPrefix("/sumdb/"+goDatabase, sumdb.NewServer(sumdb.NewTestServer(signer, g.sums)))
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	g.URL, _ = url.Parse(server.URL)
	return g
}

// Add adds a version of a module, a package with a constant Version. path may have small letters only.
// requires are its requirements, as "path version".
func (g *Go) Add(path, version string, published time.Time, requires ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	mod := "module " + path + "\n\ngo 1.21\n"
	for _, other := range requires {
		mod += "require " + other + "\n"
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, text := range map[string]string{"go.mod": mod, "lib.go": "package " + path[strings.LastIndexByte(path, '/')+1:] + "\n\nconst Version = \"" + version + "\"\n"} {
		w, _ := archive.Create(path + "@" + version + "/" + name)
		_, _ = io.WriteString(w, text)
	}
	_ = archive.Close()
	base := "/" + path + "/@v/"
	g.files[base+version+".info"] = fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, published.UTC().Format(time.RFC3339))
	g.files[base+version+".mod"] = []byte(mod)
	g.files[base+version+".zip"] = packed.Bytes()
	g.files[base+"list"] = append(g.files[base+"list"], version+"\n"...)
}

// sums makes the record of a version for the database.
func (g *Go) sums(path, version string) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	base := "/" + path + "/@v/" + version
	packed, there := g.files[base+".zip"]
	if !there {
		return nil, fs.ErrNotExist
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	all, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return archive.Open(name) })
	if err != nil {
		return nil, err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(g.files[base+".mod"])), nil
	})
	return fmt.Appendf(nil, "%s %s %s\n%s %s/go.mod %s\n", path, version, all, path, version, mod), err
}

// Requests lists the requests so far, as "GET /path".
func (g *Go) Requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.requests...)
}

// ServeHTTP serves the modules and the database.
func (g *Go) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.requests = append(g.requests, r.Method+" "+r.URL.RequestURI())
	data, there := g.files[r.URL.Path]
	g.mu.Unlock()
	switch {
	case there:
		_, _ = w.Write(data)
	case r.URL.Path == "/sumdb/"+goDatabase+"/supported": // and no body
	case strings.HasPrefix(r.URL.Path, "/sumdb/"+goDatabase+"/"):
		g.database.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}
