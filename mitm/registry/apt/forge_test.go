package apt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
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

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// forge is a repository under an invented name. It is the plane's fetcher, too.
type forge struct {
	origin *registry.Origin
	key    *openpgp.Entity
	date   time.Time
	fields string // more fields of the Release

	mu    sync.Mutex
	files map[string][]byte // by path, not escaped
	asked []string
}

// makeKey makes one key for all tests: it takes a while.
var makeKey = sync.OnceValues(func() (*openpgp.Entity, error) {
	return openpgp.NewEntity("forged", "", "forged@repo.example", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
})

func newForge(t testing.TB) *forge {
	t.Helper()
	key, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	return &forge{
		origin: &registry.Origin{Ecosystem: "apt", URL: &url.URL{Scheme: "http", Host: "repo.example", Path: "/debian/"}, Keys: []string{keyringOf(t, key)}},
		key:    key, date: time.Now().Add(-time.Hour), files: map[string][]byte{},
	}
}

// keyringOf writes a keyring.
func keyringOf(t testing.TB, keys ...*openpgp.Entity) string {
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

func (f *forge) put(path string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[path] = data
}

func (f *forge) get(path string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files[path]
}

// paths are what the repository was asked for.
func (f *forge) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// Document gets a file, as the plane does.
func (f *forge) Document(_ context.Context, _ *registry.Origin, path, _ string) (*registry.Document, error) {
	parts, ok := split(path)
	if !ok {
		return nil, fmt.Errorf("%s is no path", path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	plain := strings.Join(parts, "/")
	f.asked = append(f.asked, plain)
	data, found := f.files[plain]
	if !found {
		return nil, registry.ErrNotFound
	}
	return &registry.Document{Data: data}, nil
}

// publish writes the Release of a distribution, of all files that are below it, and the
// names of these by their hashes.
func (f *forge) publish(t testing.TB, dist string) {
	t.Helper()
	below := "dists/" + dist + "/"
	var list, long strings.Builder
	f.mu.Lock()
	for name, data := range f.files {
		name, ok := strings.CutPrefix(name, below)
		if !ok || strings.Contains(name, "by-hash") || !strings.Contains(name, "/") {
			continue
		}
		sum, sum512 := sha256.Sum256(data), sha512.Sum512(data)
		fmt.Fprintf(&list, " %x %d %s\n", sum, len(data), name)
		fmt.Fprintf(&long, " %x %d %s\n", sum512, len(data), name)
		f.files[below+path.Dir(name)+"/by-hash/SHA256/"+hex.EncodeToString(sum[:])] = data
	}
	f.mu.Unlock()
	text := fmt.Sprintf("Origin: Forged\nSuite: %s\nCodename: forged\nDate: %s\nArchitectures: amd64\nComponents: main\nAcquire-By-Hash: yes\n%sSHA256:\n%sSHA512:\n%s",
		dist, f.date.UTC().Format("Mon, 02 Jan 2006 15:04:05 UTC"), f.fields, list.String(), long.String())
	f.sign(t, dist, text)
}

// sign writes a Release in both of its forms.
func (f *forge) sign(t testing.TB, dist, text string) {
	t.Helper()
	f.put("dists/"+dist+"/Release", []byte(text))
	var detached bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&detached, f.key, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	f.put("dists/"+dist+"/Release.gpg", detached.Bytes())
	var inline bytes.Buffer
	w, err := clearsign.Encode(&inline, f.key.PrivateKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.put("dists/"+dist+"/InRelease", append(inline.Bytes(), '\n'))
}

// addDeb makes a package with dpkg-deb and returns its paragraph of a Packages.
func (f *forge) addDeb(t testing.TB, name, version, compression string, files map[string]string) string {
	t.Helper()
	data := deb(t, name, version, compression, files)
	filename := fmt.Sprintf("pool/main/%s/%s/%s_%s_amd64.deb", name[:1], name, name, version[strings.IndexByte(version, ':')+1:])
	f.put(filename, data)
	return fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Forger <forger@repo.example>\nDescription: forged\n of nothing\nFilename: %s\nSize: %d\nSHA256: %x\n\n",
		name, version, filename, len(data), sha256.Sum256(data))
}

// deb makes a package. Files whose names begin with DEBIAN/ say what it is.
func deb(t testing.TB, name, version, compression string, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"DEBIAN/control": fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Forger <forger@repo.example>\nDescription: forged\n", name, version)}
	for file, text := range files {
		all[file] = text
	}
	for file, text := range all {
		path := filepath.Join(dir, "root", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out.deb")
	run(t, nil, "dpkg-deb", "--root-owner-group", "-Z"+compression, "--uniform-compression", "--build", filepath.Join(dir, "root"), out)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// run runs a program and returns what it writes.
func run(t testing.TB, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	return out.Bytes()
}

// compressed is data as a program compresses it.
func compressed(t testing.TB, data []byte, program string, args ...string) []byte {
	t.Helper()
	return run(t, data, program, append(args, "-c")...)
}

// ask parses a path below the origin and gets its facts.
func (f *forge) ask(t testing.TB, e *Ecosystem, path string) (*registry.Facts, *registry.Ask, error) {
	t.Helper()
	a, err := e.Parse(f.origin, &registry.Request{Method: "GET", Base: f.origin.URL, Path: path})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	facts, err := e.Facts(t.Context(), f, f.origin, a)
	return facts, a, err
}
