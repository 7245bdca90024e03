package forged

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// PyPI is a Python package index with its documents in JSON (PEP 691).
type PyPI struct {
	// URL is the index's address; its documents name files below Public.
	URL    *url.URL
	Public string

	mu       sync.Mutex
	wheels   map[string][]wheel // by project
	requests []string
}

type wheel struct {
	name      string
	version   string
	published time.Time
	data      []byte
}

// NewPyPI starts an index, which ends with the test.
func NewPyPI(t testing.TB) *PyPI {
	t.Helper()
	p := &PyPI{Public: "https://pypi.example/", wheels: make(map[string][]wheel)}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.URL, _ = url.Parse(server.URL)
	return p
}

// Add adds a version of a project with a module of the same name. requires are its requirements.
func (p *PyPI) Add(name, version string, published time.Time, requires ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	about := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	for _, r := range requires {
		about += "Requires-Dist: " + r + "\n"
	}
	info := name + "-" + version + ".dist-info/"
	p.wheels[name] = append(p.wheels[name], wheel{name + "-" + version + "-py3-none-any.whl", version, published, Wheel(
		name+".py", "version = '"+version+"'\n",
		info+"METADATA", about+"\n",
		info+"WHEEL", "Wheel-Version: 1.0\nGenerator: forged\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info+"RECORD", name+".py,,\n"+info+"METADATA,,\n"+info+"WHEEL,,\n"+info+"RECORD,,\n",
	)})
}

// Digest returns the SHA-256 of a version's wheel, in hex.
func (p *PyPI) Digest(name, version string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wheels[name] {
		if w.version == version {
			return digest(w.data)
		}
	}
	return ""
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Requests lists the requests so far, as "GET /path".
func (p *PyPI) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// ServeHTTP serves the projects, also to clients that use the index as a proxy.
func (p *PyPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		tunnel(w, p.URL.Host)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
	if name, is := strings.CutPrefix(r.URL.Path, "/simple/"); is && p.wheels[strings.TrimSuffix(name, "/")] != nil {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		_, _ = w.Write(p.document(strings.TrimSuffix(name, "/")))
		return
	}
	for _, wheels := range p.wheels {
		for _, f := range wheels {
			if r.URL.Path == "/files/"+f.name {
				_, _ = w.Write(f.data)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func (p *PyPI) document(project string) []byte {
	var files []map[string]any
	var versions []string
	for _, f := range p.wheels[project] {
		versions = append(versions, f.version)
		files = append(files, map[string]any{
			"filename": f.name, "url": p.Public + "files/" + f.name, "size": len(f.data), "yanked": false,
			"hashes": map[string]string{"sha256": digest(f.data)}, "upload-time": f.published.UTC().Format(time.RFC3339),
		})
	}
	doc, _ := json.Marshal(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": project, "versions": versions, "files": files})
	return doc
}

// Wheel packs alternating names and contents as a wheel.
func Wheel(pairs ...string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		if f, err := archive.Create(pairs[i]); err == nil {
			_, _ = io.WriteString(f, pairs[i+1]) //nolint:gosec // they are pairs
		}
	}
	_ = archive.Close()
	return out.Bytes()
}
