// Package forged makes package registries for tests: servers on this machine that speak the
// real protocols, with packages, times and digests as a test wants them, wrong ones included.
package forged

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1" // #nosec G505 -- registries list it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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

// NPM is an npm registry.
type NPM struct {
	// URL is the registry's address; its documents name tarballs below Public.
	URL    *url.URL
	Public string

	mu       sync.Mutex
	packages map[string]*npmPackage
	requests []string
	bodies   []string
	change   func(path string, body []byte) []byte
	keys     []npmKey // the last one signs
}

type npmKey struct {
	private *ecdsa.PrivateKey
	id      string
	expires time.Time
}

type npmPackage struct {
	versions []*NPMVersion
	latest   string
}

// NPMVersion is one version. Manifest has the members of its document and its package.json besides
// name and version.
type NPMVersion struct {
	Version   string
	Published time.Time
	Manifest  map[string]any
	Files     map[string]string
	tarball   []byte
}

// NewNPM starts a registry, which ends with the test.
func NewNPM(t testing.TB) *NPM {
	t.Helper()
	n := &NPM{Public: "https://npm.example/", packages: make(map[string]*npmPackage)}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	n.URL, _ = url.Parse(server.URL)
	return n
}

// Add adds a version, which becomes the latest.
func (n *NPM) Add(name string, v NPMVersion) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.packages[name]
	if p == nil {
		p = &npmPackage{}
		n.packages[name] = p
	}
	manifest := map[string]any{"name": name, "version": v.Version, "main": "index.js"}
	maps.Copy(manifest, v.Manifest)
	v.Manifest = manifest
	text, _ := json.Marshal(manifest)
	files := map[string]string{"package.json": string(text), "index.js": "module.exports = " + string(text) + "\n"}
	maps.Copy(files, v.Files)
	v.tarball = Tarball(files)
	p.versions, p.latest = append(p.versions, &v), v.Version
}

// Sign makes the registry sign its versions with a new key, which it publishes. expires is zero for
// a key that does not expire.
func (n *NPM) Sign(expires time.Time) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keys = append(n.keys, npmKey{private, fmt.Sprintf("SHA256:%d", len(n.keys)), expires})
}

// Change sets a function that changes each body before the registry sends it. path has no leading
// slash.
func (n *NPM) Change(f func(path string, body []byte) []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.change = f
}

// Requests lists the requests so far, as "GET /path", and their bodies.
func (n *NPM) Requests() (requests, bodies []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.requests), slices.Clone(n.bodies)
}

// ServeHTTP serves the packages, also to clients that use the registry as a proxy.
func (n *NPM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		tunnel(w, n.URL.Host)
		return
	}
	body, _ := io.ReadAll(r.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, r.Method+" "+r.URL.RequestURI())
	n.bodies = append(n.bodies, string(body))
	path := strings.TrimPrefix(r.URL.Path, "/")
	kind, answer := n.answer(path)
	if n.change != nil {
		answer = n.change(path, answer)
	}
	if answer == nil {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(answer) //nolint:gosec // no browser reads it
}

func (n *NPM) answer(path string) (kind string, body []byte) {
	if path == "-/npm/v1/security/advisories/bulk" {
		return "application/json", []byte("{}")
	}
	if path == "-/npm/v1/keys" && len(n.keys) > 0 {
		return "application/json", n.publicKeys()
	}
	name, file, is := strings.Cut(path, "/-/")
	p := n.packages[name]
	switch {
	case p == nil:
		return "", nil
	case !is:
		return "application/json", n.document(name, p)
	}
	for _, v := range p.versions {
		if file == tarballName(name, v.Version) {
			return "application/octet-stream", v.tarball
		}
	}
	return "", nil
}

func tarballName(name, version string) string {
	return name[strings.LastIndexByte(name, '/')+1:] + "-" + version + ".tgz"
}

func (n *NPM) document(name string, p *npmPackage) []byte {
	versions, times := map[string]any{}, map[string]string{}
	for _, v := range p.versions {
		entry := maps.Clone(v.Manifest)
		sum, old := sha512.Sum512(v.tarball), sha1.Sum(v.tarball) //nolint:gosec // old registries list it
		integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
		dist := map[string]any{
			"tarball":   n.Public + name + "/-/" + tarballName(name, v.Version),
			"integrity": integrity,
			"shasum":    hex.EncodeToString(old[:]),
		}
		if len(n.keys) > 0 {
			dist["signatures"] = n.sign(name + "@" + v.Version + ":" + integrity)
		}
		entry["dist"] = dist
		versions[v.Version] = entry
		if !v.Published.IsZero() {
			times[v.Version] = v.Published.UTC().Format(time.RFC3339)
		}
	}
	doc, _ := json.Marshal(map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": p.latest}, "versions": versions, "time": times,
	})
	return doc
}

func (n *NPM) sign(text string) []any {
	key := n.keys[len(n.keys)-1]
	sum := sha256.Sum256([]byte(text))
	signature, err := ecdsa.SignASN1(rand.Reader, key.private, sum[:])
	if err != nil {
		panic(err)
	}
	return []any{map[string]string{"keyid": key.id, "sig": base64.StdEncoding.EncodeToString(signature)}}
}

func (n *NPM) publicKeys() []byte {
	var all []any
	for _, key := range n.keys {
		der, err := x509.MarshalPKIXPublicKey(&key.private.PublicKey)
		if err != nil {
			panic(err)
		}
		entry := map[string]any{
			"keyid": key.id, "keytype": "ecdsa-sha2-nistp256", "scheme": "ecdsa-sha2-nistp256",
			"key": base64.StdEncoding.EncodeToString(der), "expires": nil,
		}
		if !key.expires.IsZero() {
			entry["expires"] = key.expires.UTC().Format(time.RFC3339)
		}
		all = append(all, entry)
	}
	doc, _ := json.Marshal(map[string]any{"keys": all})
	return doc
}

// Tarball packs files below "package/", as npm does.
func Tarball(files map[string]string) []byte { return tarball("package/", files) }

// tarball packs files below a directory.
func tarball(dir string, files map[string]string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_ = archive.WriteHeader(&tar.Header{Name: dir + name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg})
		_, _ = io.WriteString(archive, files[name])
	}
	_ = archive.Close()
	_ = zipped.Close()
	return out.Bytes()
}
