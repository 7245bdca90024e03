package forged

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Apt is a repository of Debian packages: files, and signed lists of them.
type Apt struct {
	URL     *url.URL // of the repository
	Keyring string   // path of a file with the key that signs it
	Key     *openpgp.Entity
	Date    time.Time // of the next Release
	Fields  string    // more fields of the next Release, each with its newline

	mu       sync.Mutex
	files    map[string][]byte // by path, not escaped
	requests []string
}

// NewAptKey makes a key that can sign a repository.
func NewAptKey(t testing.TB) *openpgp.Entity {
	t.Helper()
	key, err := openpgp.NewEntity("forged", "", "forged@repo.example", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// NewApt starts a repository without files, which ends with the test.
func NewApt(t testing.TB) *Apt {
	t.Helper()
	key := NewAptKey(t)
	a := &Apt{Keyring: Keyring(t, key), Key: key, Date: time.Now().Add(-time.Hour), files: map[string][]byte{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.URL, _ = url.Parse(server.URL)
	return a
}

// Keyring writes a keyring and returns its path.
func Keyring(t testing.TB, keys ...*openpgp.Entity) string {
	t.Helper()
	var buf bytes.Buffer
	for _, key := range keys {
		if err := key.Serialize(&buf); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "keyring.gpg")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Put adds or replaces a file.
func (a *Apt) Put(path string, data []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files[path] = append([]byte{}, data...)
}

// Get returns a file; nil: there is none.
func (a *Apt) Get(path string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files[path]
}

// Remove removes a file.
func (a *Apt) Remove(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.files, path)
}

// Paths lists the files.
func (a *Apt) Paths() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.files))
}

// Requests lists the requests so far, as "GET /path".
func (a *Apt) Requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// ServeHTTP serves the files.
func (a *Apt) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r.Method+" "+r.URL.RequestURI())
	data, found := a.files[strings.TrimPrefix(r.URL.Path, "/")]
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// Publish writes and signs the Release of a distribution, which lists all files below it, and puts
// those files at their by-hash paths, too.
func (a *Apt) Publish(t testing.TB, dist string) {
	t.Helper()
	below := "dists/" + dist + "/"
	var list, long strings.Builder
	a.mu.Lock()
	for name, data := range a.files {
		name, ok := strings.CutPrefix(name, below)
		if !ok || strings.Contains(name, "by-hash") || !strings.Contains(name, "/") {
			continue
		}
		sum, sum512 := sha256.Sum256(data), sha512.Sum512(data)
		fmt.Fprintf(&list, " %x %d %s\n", sum, len(data), name)
		fmt.Fprintf(&long, " %x %d %s\n", sum512, len(data), name)
		a.files[below+path.Dir(name)+"/by-hash/SHA256/"+hex.EncodeToString(sum[:])] = data
	}
	a.mu.Unlock()
	a.Sign(t, dist, fmt.Sprintf("Origin: Forged\nSuite: %s\nCodename: forged\nDate: %s\nArchitectures: amd64\nComponents: main\nAcquire-By-Hash: yes\n%sSHA256:\n%sSHA512:\n%s",
		dist, a.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 UTC"), a.Fields, list.String(), long.String()))
}

// Sign writes a Release in both signed forms: InRelease, and Release with Release.gpg.
func (a *Apt) Sign(t testing.TB, dist, text string) {
	t.Helper()
	a.Put("dists/"+dist+"/Release", []byte(text))
	var detached bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&detached, a.Key, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	a.Put("dists/"+dist+"/Release.gpg", detached.Bytes())
	var inline bytes.Buffer
	w, err := clearsign.Encode(&inline, a.Key.PrivateKey, nil)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	a.Put("dists/"+dist+"/InRelease", append(inline.Bytes(), '\n'))
}

// AddDeb adds a package and returns its paragraph for a Packages file. fields are added to the
// control fields of both.
func (a *Apt) AddDeb(t testing.TB, name, version, compression string, files map[string]string, fields ...string) string {
	t.Helper()
	data := Deb(t, name, version, compression, files, fields...)
	filename := fmt.Sprintf("pool/main/%s/%s/%s_%s_amd64.deb", name[:1], name, name, version[strings.IndexByte(version, ':')+1:])
	a.Put(filename, data)
	return control(name, version, fields) + fmt.Sprintf("Filename: %s\nSize: %d\nSHA256: %x\n\n", filename, len(data), sha256.Sum256(data))
}

// control returns the control fields of a package and of its paragraph.
func control(name, version string, fields []string) string {
	text := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Forger <forger@repo.example>\n", name, version)
	for _, field := range fields {
		text += field + "\n"
	}
	return text + "Description: forged\n of nothing\n"
}

// Deb makes a package with dpkg-deb. fields are added to its control fields. Files whose names begin
// with DEBIAN/ become control files.
func Deb(t testing.TB, name, version, compression string, files map[string]string, fields ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"DEBIAN/control": control(name, version, fields)}
	maps.Copy(all, files)
	for file, text := range all {
		path := filepath.Join(dir, "root", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as packages have it
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil { //nolint:gosec // as packages have it
			t.Fatal(err)
		}
	}
	archive := filepath.Join(dir, "out.deb")
	build := exec.CommandContext(t.Context(), "dpkg-deb", "--root-owner-group", "-Z"+compression, "--uniform-compression", "--build", filepath.Join(dir, "root"), archive)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
