package gomod

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// gatewayTo answers the go command as the plane does, but for waiting: what is younger than
// three days is hidden or refused.
func gatewayTo(f *forge, heads Heads) *registrytest.Gateway {
	young := func(facts *registry.Facts, version string) bool {
		v := facts.Version(version)
		return v != nil && time.Since(v.Published) < 72*time.Hour
	}
	bytesOf := func(ctx context.Context, facts *registry.Facts, v *registry.Version, a *registry.Ask) ([]byte, error) {
		if young(facts, v.Version) {
			return nil, registry.Refuse(403, registry.ReasonQuarantine, "%s@%s is too young", facts.Name, v.Version)
		}
		return f.get(ctx, a.Path)
	}
	return &registrytest.Gateway{
		Ecosystem: New(heads), Fetcher: f, Origin: f.origin,
		Bases: map[string]*url.URL{"/": f.origin.URL}, Hidden: young, Bytes: bytesOf,
	}
}

// client runs the go command in an empty directory, with nothing of the person's.
type client struct {
	dir string
	env []string
}

func newClient(t *testing.T, f *forge, heads Heads) *client {
	t.Helper()
	server := httptest.NewServer(gatewayTo(f, heads))
	t.Cleanup(server.Close)
	c := &client{dir: t.TempDir()}
	home := t.TempDir()
	c.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GOPATH=" + filepath.Join(home, "go"), "GOMODCACHE=" + filepath.Join(home, "mod"),
		"GOCACHE=" + filepath.Join(home, "cache"), "GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw", "GOVCS=*:off",
		"GOPROXY=" + server.URL, "GOSUMDB=" + f.key, "GONOPROXY=none",
	}
	if out, err := c.run(t, "mod", "init", "app.example/app"); err != nil {
		t.Fatalf("go mod init: %v\n%s", err, out)
	}
	return c
}

func (c *client) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *client) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// aged is a forge with two modules: all their versions were recorded a year ago but for
// the newest one of the first.
func aged(t *testing.T) (*forge, *Memory) {
	t.Helper()
	f, heads := newForge(t), &Memory{}
	f.put(t, "mods.example/Dep", "v0.3.0", released)
	f.put(t, "mods.example/lib", "v1.0.0", released)
	f.put(t, "mods.example/lib", "v1.1.0", released, "mods.example/Dep v0.3.0")
	f.record(t, "mods.example/lib@v1.0.0", "mods.example/lib@v1.1.0", "mods.example/Dep@v0.3.0")
	f.hold(t, heads, time.Now().AddDate(-1, 0, 0))
	f.put(t, "mods.example/lib", "v1.2.0", released) // says that it is old
	f.record(t, "mods.example/lib@v1.2.0")
	return f, heads
}

func TestGoCommandTakesTheNewestOldEnough(t *testing.T) {
	f, heads := aged(t)
	c := newClient(t, f, heads)
	if out, err := c.run(t, "get", "mods.example/lib@latest"); err != nil {
		t.Fatalf("go get: %v\n%s", err, out)
	}
	program := "package main\n\nimport (\n\t_ \"mods.example/Dep\"\n\t_ \"mods.example/lib\"\n)\n"
	if err := os.WriteFile(filepath.Join(c.dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := c.run(t, "mod", "tidy"); err != nil {
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	mod := c.read(t, "go.mod")
	if !strings.Contains(mod, "mods.example/lib v1.1.0") || !strings.Contains(mod, "mods.example/Dep v0.3.0") {
		t.Errorf("go.mod is\n%s", mod)
	}
	sum := c.read(t, "go.sum")
	for _, want := range []string{"mods.example/lib v1.1.0 h1:", "mods.example/lib v1.1.0/go.mod h1:", "mods.example/Dep v0.3.0/go.mod h1:"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(sum, want) {
				t.Errorf("go.sum lacks %q:\n%s", want, sum)
			}
		})
	}
	if out, err := c.run(t, "mod", "download", "all"); err != nil {
		t.Errorf("go mod download: %v\n%s", err, out)
	}
	if out, err := c.run(t, "mod", "verify"); err != nil {
		t.Errorf("go mod verify: %v\n%s", err, out)
	}
}

func TestGoCommandSeesWhyAYoungVersionIsRefused(t *testing.T) {
	f, heads := aged(t)
	c := newClient(t, f, heads)
	out, err := c.run(t, "get", "mods.example/lib@v1.2.0")
	if err == nil || !strings.Contains(out, "mods.example/lib@v1.2.0 is too young") {
		t.Errorf("go get of a young version: %v\n%s", err, out)
	}
	f.put(t, "mods.example/new", "v0.1.0", released)
	out, err = c.run(t, "get", "mods.example/new")
	if err == nil || !strings.Contains(out, "every available version is too young") {
		t.Errorf("go get of a young module: %v\n%s", err, out)
	}
	for _, path := range f.paths() {
		if strings.HasSuffix(path, "lib/@v/v1.2.0.zip") || strings.HasSuffix(path, "new/@v/v0.1.0.zip") {
			t.Errorf("%s was downloaded", path)
		}
	}
}

func TestGoCommandCannotAskForBranches(t *testing.T) {
	f, heads := aged(t)
	c := newClient(t, f, heads)
	out, err := c.run(t, "get", "mods.example/lib@main")
	if err == nil || !strings.Contains(out, "branches, tags and commits are not looked up here") {
		t.Errorf("go get of a branch: %v\n%s", err, out)
	}
}

func TestGoCommandGetsNoOtherBytes(t *testing.T) {
	f, heads := aged(t)
	f.set(t, "mods.example/lib", "v1.1.0", "zip", zipOf(t, "mods.example/lib@v1.1.0/", map[string]string{"lib.go": "package evil\n"}))
	c := newClient(t, f, heads)
	out, err := c.run(t, "get", "mods.example/lib@v1.1.0")
	if err == nil || !strings.Contains(out, "its zip is not the one in the checksum database") {
		t.Errorf("go get of another zip: %v\n%s", err, out)
	}
}

// A module without a version has a pseudo-version for its latest.
func TestGoCommandGetsAPseudoVersion(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	const version = "v0.0.0-20200102030405-0123456789ab"
	f.put(t, "mods.example/untagged", version, released)
	f.mu.Lock()
	f.files["/mods.example/untagged/@v/list"] = nil
	f.files["/mods.example/untagged/@latest"] = fmt.Appendf(nil, `{"Version":%q,"Time":"2020-01-02T03:04:05Z"}`, version)
	f.mu.Unlock()
	f.record(t, "mods.example/untagged@"+version)
	f.hold(t, heads, time.Now().AddDate(0, -1, 0))
	c := newClient(t, f, heads)
	if out, err := c.run(t, "get", "mods.example/untagged"); err != nil {
		t.Fatalf("go get: %v\n%s", err, out)
	}
	if mod := c.read(t, "go.mod"); !strings.Contains(mod, version) {
		t.Errorf("go.mod is\n%s", mod)
	}
}
