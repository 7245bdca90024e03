package forged

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// PyPI is a Python index that lists files as JSON, with wheels that install.
type PyPI struct {
	URL *url.URL

	mu       sync.Mutex
	projects map[string][]pythonFile
	requests []string
}

type pythonFile struct {
	name      string
	published time.Time
	wheel     []byte
}

// NewPyPI starts an index, which ends with the test.
func NewPyPI(t testing.TB) *PyPI {
	t.Helper()
	p := &PyPI{projects: make(map[string][]pythonFile)}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.URL, _ = url.Parse(server.URL)
	return p
}

// Add adds a version of a project: a wheel with a module of the project's name, which needs these.
func (p *PyPI) Add(name, version string, published time.Time, needs ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.projects[name] = append(p.projects[name], pythonFile{fmt.Sprintf("%s-%s-py3-none-any.whl", name, version), published, wheel(name, version, needs)})
}

// wheel packs a module that knows its version.
func wheel(name, version string, needs []string) []byte {
	about := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	for _, other := range needs {
		about += "Requires-Dist: " + other + "\n"
	}
	info, record := name+"-"+version+".dist-info/", ""
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	add := func(file, text string) {
		record += file + ",,\n"
		w, _ := archive.Create(file)
		_, _ = io.WriteString(w, text)
	}
	add(name+".py", "version = '"+version+"'\n")
	add(info+"METADATA", about)
	add(info+"WHEEL", "Wheel-Version: 1.0\nGenerator: forged\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	add(info+"RECORD", record+info+"RECORD,,\n")
	_ = archive.Close()
	return out.Bytes()
}

// Requests lists what was asked for, as "GET /path".
func (p *PyPI) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// ServeHTTP answers.
func (p *PyPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
	project, isProject := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/simple/")
	files := p.projects[project]
	if isProject && files != nil {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		_, _ = w.Write(page(project, files))
		return
	}
	for _, files := range p.projects {
		for _, file := range files {
			if r.URL.Path == "/files/"+file.name {
				_, _ = w.Write(file.wheel)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func page(project string, files []pythonFile) []byte {
	var list []map[string]any
	for _, file := range files {
		sum := sha256.Sum256(file.wheel)
		list = append(list, map[string]any{
			"filename": file.name, "url": "../../files/" + file.name,
			"hashes": map[string]string{"sha256": hex.EncodeToString(sum[:])}, "upload-time": file.published.UTC().Format(time.RFC3339),
		})
	}
	text, _ := json.Marshal(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": project, "files": list})
	return text
}
