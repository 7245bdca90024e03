package gomod

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// forge is a module proxy under an invented name, with a checksum database.
type forge struct {
	database *sumdb.TestServer
	signer   string // that signs the database
	key      string // that verifies it
	origin   *registry.Origin
	server   *httptest.Server

	mu    sync.Mutex
	more  string            // further lines of each record
	files map[string][]byte // by unescaped path
	asked []string
}

// released is when forged versions say that their commits were made.
var released = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

func newForge(t testing.TB) *forge {
	t.Helper()
	signer, verifier, err := note.GenerateKey(rand.Reader, "sums.example")
	if err != nil {
		t.Fatal(err)
	}
	return forgeWith(t, signer, verifier)
}

// fork is a module proxy whose database has the same key and another past.
func (f *forge) fork(t testing.TB) *forge {
	t.Helper()
	return forgeWith(t, f.signer, f.key)
}

func forgeWith(t testing.TB, signer, verifier string) *forge {
	t.Helper()
	f := &forge{signer: signer, key: verifier, files: map[string][]byte{}}
	f.database = sumdb.NewTestServer(signer, f.sums)
	database := sumdb.NewServer(f.database)
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.URL.Path)
		data, found := f.files[r.URL.Path]
		f.mu.Unlock()
		if found {
			_, _ = w.Write(data)
			return
		}
		if below, ok := strings.CutPrefix(r.URL.Path, "/sumdb/sums.example"); ok {
			r.URL.Path = below
			database.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(f.server.Close)
	f.origin = &registry.Origin{Ecosystem: "go", URL: &url.URL{Scheme: "https", Host: "modules.example", Path: "/"}, Keys: []string{verifier}}
	return f
}

// put makes a version of a module that requires others, "path version".
func (f *forge) put(t testing.TB, name, version string, at time.Time, requires ...string) {
	t.Helper()
	mod := "module " + name + "\n\ngo 1.21\n"
	for _, r := range requires {
		mod += "require " + r + "\n"
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	f.set(t, name, version, "info", fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, at.Format(time.RFC3339)))
	f.set(t, name, version, "mod", []byte(mod))
	f.set(t, name, version, "zip", zipOf(t, name+"@"+version+"/", map[string]string{"go.mod": mod, "lib.go": "package " + strings.ToLower(base) + "\n"}))
	path, _ := module.EscapePath(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	list := "/" + path + "/@v/list"
	f.files[list] = append(f.files[list], version+"\n"...)
}

// set replaces one file of a version.
func (f *forge) set(t testing.TB, name, version, extension string, data []byte) {
	t.Helper()
	path, err := module.EscapePath(name)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files["/"+path+"/@v/"+version+"."+extension] = data
}

// record gives versions ("module@version") the next numbers in the checksum database.
func (f *forge) record(t testing.TB, versions ...string) {
	t.Helper()
	for _, v := range versions {
		name, version, _ := strings.Cut(v, "@")
		if _, err := f.database.Lookup(t.Context(), module.Version{Path: name, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
}

// hold lets heads hold what the database has now, since a time.
func (f *forge) hold(t testing.TB, heads Heads, since time.Time) {
	t.Helper()
	signed, err := f.database.Signed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(f.key)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := openTree(signed, verifier)
	if err != nil {
		t.Fatal(err)
	}
	if err := heads.Hold("sums.example", Head{Size: tree.N, Time: since, Signed: signed}, heads.Latest("sums.example")); err != nil {
		t.Fatal(err)
	}
}

// sums makes the record of a version for the database.
func (f *forge) sums(name, version string) ([]byte, error) {
	path, err := module.EscapePath(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	packed, mod := f.files["/"+path+"/@v/"+version+".zip"], f.files["/"+path+"/@v/"+version+".mod"]
	if packed == nil {
		return nil, fs.ErrNotExist
	}
	hash, err := hashOfZip(packed)
	return []byte(fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", name, version, hash, name, version, hashOfMod(mod)) + f.more), err
}

func hashOfZip(data []byte) (string, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	var names []string
	files := map[string]*zip.File{}
	for _, f := range archive.File {
		names = append(names, f.Name)
		files[f.Name] = f
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
}

func zipOf(t testing.TB, prefix string, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		entry, err := w.Create(prefix + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(entry, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Document fetches from the forged proxy, like the plane.
func (f *forge) Document(ctx context.Context, _ *registry.Origin, path, _ string) (*registry.Document, error) {
	data, err := f.get(ctx, path)
	return &registry.Document{Data: data, Type: "text/plain"}, err
}

func (f *forge) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.server.URL+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := f.server.Client().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return io.ReadAll(resp.Body)
	case http.StatusNotFound:
		return nil, registry.ErrNotFound
	}
	return nil, fmt.Errorf("the forged proxy answered %s for %s", resp.Status, path)
}

// paths are what the proxy was asked for.
func (f *forge) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// parse reads a path below the origin.
func (f *forge) parse(e *Ecosystem, path string) (*registry.Ask, error) {
	return e.Parse(f.origin, &registry.Request{Method: "GET", Base: f.origin.URL, Path: path})
}

// facts gets the facts of a path.
func (f *forge) facts(t testing.TB, e *Ecosystem, path string) (*registry.Facts, *registry.Ask, error) {
	t.Helper()
	a, err := f.parse(e, path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	facts, err := e.Facts(t.Context(), f, f.origin, a)
	return facts, a, err
}

// Admit lets every version pass.
func (*forge) Admit(context.Context, *registry.Origin, registry.Pin, func() (bool, error)) error {
	return nil
}
