package apt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// gatewayTo answers apt-get as the plane does.
func gatewayTo(f *forge) *registrytest.Gateway {
	bytesOf := func(ctx context.Context, facts *registry.Facts, _ *registry.Version, a *registry.Ask) ([]byte, error) {
		doc, err := f.Document(ctx, f.origin, a.Path, "")
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(doc.Data)
		if _, file := facts.File(a.URL()); !bytes.Equal(sum[:], file.Digests[0].Sum) {
			return nil, registry.Refuse(403, registry.ReasonDigest, "not the bytes that are listed")
		}
		return doc.Data, nil
	}
	return &registrytest.Gateway{
		Ecosystem: New(&memory{}), Fetcher: f, Origin: f.origin,
		Bases: map[string]*url.URL{"/debian/": f.origin.URL}, Bytes: bytesOf,
	}
}

// client runs apt-get with nothing of this machine's.
type client struct{ dir string }

func newClient(t *testing.T, f *forge, sources string) *client {
	t.Helper()
	server := httptest.NewServer(gatewayTo(f))
	t.Cleanup(server.Close)
	c := &client{dir: t.TempDir()}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial", "etc/preferences.d", "etc/apt.conf.d", "log", "out"} {
		if err := os.MkdirAll(filepath.Join(c.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.write(t, "status", "")
	c.write(t, "sources.list", strings.ReplaceAll(sources, "REPO", "[signed-by="+f.origin.Keys[0]+"] "+server.URL+"/debian"))
	c.write(t, "apt.conf", fmt.Sprintf(`Dir "%[1]s";
Dir::State "%[1]s/state";
Dir::State::status "%[1]s/status";
Dir::Cache "%[1]s/cache";
Dir::Log "%[1]s/log";
Dir::Etc "%[1]s/etc";
Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "-";
Dir::Bin::Methods "/usr/lib/apt/methods";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "0";
`, c.dir))
	return c
}

func (c *client) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *client) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "apt-get", args...)
	cmd.Dir = filepath.Join(c.dir, "out")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C", "APT_CONFIG=" + filepath.Join(c.dir, "apt.conf")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// stocked is a repository with two packages, of which one has all that names may have, and
// a source package.
func stocked(t *testing.T) *forge {
	t.Helper()
	f := newForge(t)
	packages := f.AddDeb(t, "hello", "1.0", "xz", map[string]string{"usr/bin/hello": "#!/bin/sh\n"}) +
		f.AddDeb(t, "g++-forged", "2:1.0~rc1+b1", "zstd", map[string]string{"usr/bin/g++": "#!/bin/sh\n"})
	f.Put("dists/stable/main/binary-amd64/Packages", []byte(packages))
	f.Put("dists/stable/main/binary-amd64/Packages.xz", compressed(t, []byte(packages), "xz"))
	tarball, dsc := []byte("not looked into"), []byte("Format: 1.0\nSource: hello\n")
	f.Put("pool/main/h/hello/hello_1.0.tar.gz", tarball)
	f.Put("pool/main/h/hello/hello_1.0.dsc", dsc)
	sources := fmt.Appendf(nil, "Package: hello\nBinary: hello\nVersion: 1.0\nMaintainer: Forger <forger@repo.example>\nArchitecture: any\n"+
		"Format: 1.0\nDirectory: pool/main/h/hello\nChecksums-Sha256:\n %x %d hello_1.0.dsc\n %x %d hello_1.0.tar.gz\n\n",
		sha256.Sum256(dsc), len(dsc), sha256.Sum256(tarball), len(tarball))
	f.Put("dists/stable/main/source/Sources", sources) // apt looks for this name, and gets the other
	f.Put("dists/stable/main/source/Sources.gz", compressed(t, sources, "gzip"))
	f.Publish(t, "stable")
	return f
}

func TestAptGetUpdatesAndDownloads(t *testing.T) {
	f := stocked(t)
	c := newClient(t, f, "deb REPO stable main\ndeb-src REPO stable main\n")
	if out, err := c.run(t, "update", "--error-on=any"); err != nil {
		t.Fatalf("apt-get update: %v\n%s", err, out)
	}
	if out, err := c.run(t, "download", "hello", "g++-forged"); err != nil {
		t.Fatalf("apt-get download: %v\n%s", err, out)
	}
	if out, err := c.run(t, "install", "-y", "--download-only", "--no-install-recommends", "hello"); err != nil {
		t.Errorf("apt-get install: %v\n%s", err, out)
	}
	if out, err := c.run(t, "source", "--download-only", "hello"); err != nil {
		t.Errorf("apt-get source: %v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(c.dir, "out", "*"))
	if err != nil || len(found) != 4 {
		t.Errorf("downloaded %v, %v", found, err)
	}
}

// apt-get, too, is told of a package that is not the listed one, and of one that no index
// names any more.
func TestAptGetIsRefused(t *testing.T) {
	f := stocked(t)
	c := newClient(t, f, "deb REPO stable main\n")
	if out, err := c.run(t, "update", "--error-on=any"); err != nil {
		t.Fatalf("apt-get update: %v\n%s", err, out)
	}
	f.Put("pool/main/h/hello/hello_1.0_amd64.deb", forged.Deb(t, "hello", "1.0", "xz", map[string]string{"usr/bin/hello": "evil"}))
	if out, err := c.run(t, "download", "hello"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("apt-get download of another package: %v\n%s", err, out)
	}
	f.Key = forged.NewAptKey(t)
	f.Publish(t, "stable")
	if out, err := c.run(t, "update", "--error-on=any"); err == nil {
		t.Errorf("apt-get update takes another key's Release:\n%s", out)
	}
}

// An old apt-get asks for the Release and its signature apart.
func TestAptGetTakesADetachedSignature(t *testing.T) {
	f := stocked(t)
	f.Remove("dists/stable/InRelease")
	c := newClient(t, f, "deb REPO stable main\n")
	if out, err := c.run(t, "update", "--error-on=any"); err != nil {
		t.Fatalf("apt-get update: %v\n%s", err, out)
	}
	if out, err := c.run(t, "download", "hello"); err != nil {
		t.Errorf("apt-get download: %v\n%s", err, out)
	}
}
