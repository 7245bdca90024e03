package cargo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// served is a registry over HTTP, which the real cargo can use.
type served struct {
	*httptest.Server
	*registrytest.Gateway
	t testing.TB
}

// serve starts a registry of these crates, whose archives are where dl says. files and hidden have
// them by name and version: "foo 1.0.0".
func serve(t testing.TB, dl string, files map[string][]byte, lines map[string][]string, hidden ...string) *served {
	t.Helper()
	g := &registrytest.Gateway{Ecosystem: Ecosystem{}}
	server := httptest.NewUnstartedServer(g)
	at := "http://" + server.Listener.Addr().String()
	docs := upstream{"config.json": `{"dl":"` + at + dl + `","api":"` + at + `"}`}
	for name, all := range lines {
		text := strings.Join(all, "\n")
		for file, data := range files {
			sum := sha256.Sum256(data)
			text = strings.ReplaceAll(text, "SUM("+file+")", hex.EncodeToString(sum[:]))
		}
		docs[indexPath(name)] = text
	}
	g.Fetcher = docs
	g.Origin = &registry.Origin{URL: address(t, at+"/index/"), Artifacts: []*url.URL{address(t, at+"/dl/")}}
	g.Bases = map[string]*url.URL{"/index/": g.Origin.URL, "/": g.Origin.Artifacts[0], "/dl/": g.Origin.Artifacts[0]}
	g.Hidden = func(f *registry.Facts, v string) bool { return slices.Contains(hidden, f.Name+" "+v) }
	g.Bytes = func(_ context.Context, f *registry.Facts, v *registry.Version, _ *registry.Ask) ([]byte, error) {
		return files[f.Name+" "+v.Version], nil
	}
	server.Start()
	t.Cleanup(server.Close)
	return &served{server, g, t}
}

// cargo runs the machine's cargo in a project that needs app, with a home of its own, and
// returns what it says.
func (s *served) cargo(project string, args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "cargo", args...)
	cmd.Dir = project
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "CARGO_") && !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "CARGO_HOME="+filepath.Join(project, "home"), "CARGO_NET_RETRY=0", "CARGO_TERM_COLOR=never",
		"CARGO_REGISTRIES_FORGED_INDEX=sparse+"+s.URL+"/index/")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// project is a program that needs something of the forged registry.
func project(t testing.TB, dependencies string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Cargo.toml":  "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n" + dependencies,
		"src/main.rs": "fn main() {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// library is a crate that can be built, and its line in the index.
func library(t testing.TB, files map[string][]byte, name, version, deps string) string {
	t.Helper()
	top := name + "-" + version + "/"
	files[name+" "+version] = packed(t, top+"Cargo.toml", "[package]\nname = \""+name+"\"\nversion = \""+version+"\"\nedition = \"2021\"\n", top+"src/lib.rs", "")
	return `{"name":"` + name + `","vers":"` + version + `","deps":[` + deps + `],"cksum":"SUM(` + name + " " + version + `)","features":{},"yanked":false,"pubtime":"2020-01-02T03:04:05Z"}`
}

// cargo takes the newest version that is shown, of crates with names of every length, and
// from wherever the template says.
func TestCargoFetches(t *testing.T) {
	files := map[string][]byte{}
	need := `{"name":"Lib-b","req":"^1","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal"}`
	lines := map[string][]string{
		"app":   {library(t, files, "app", "1.0.0", ""), library(t, files, "app", "1.1.0", need), library(t, files, "app", "1.2.0+build.1", need)},
		"Lib-b": {library(t, files, "Lib-b", "1.0.0", ""), library(t, files, "Lib-b", "1.0.1", "")},
		"a":     {library(t, files, "a", "0.1.0", "")},
		"ab":    {library(t, files, "ab", "0.1.0", "")},
	}
	const needs = "app = { version = \"1\", registry = \"forged\" }\na = { version = \"0.1\", registry = \"forged\" }\nab = { version = \"0.1\", registry = \"forged\" }\n"
	for _, tc := range []struct {
		name, dl string
		hidden   []string
		want     string
	}{
		{"all", "/dl", nil, "a-0.1.0 ab-0.1.0 app-1.2.0+build.1 Lib-b-1.0.1"},
		{"newest hidden", "/dl/{crate}/{crate}-{version}.crate", []string{"app 1.2.0+build.1", "Lib-b 1.0.1"}, "a-0.1.0 ab-0.1.0 app-1.1.0 Lib-b-1.0.0"},
		{"two hidden", "/dl/{lowerprefix}/{sha256-checksum}/{crate}/{version}.crate", []string{"app 1.2.0+build.1", "app 1.1.0"}, "a-0.1.0 ab-0.1.0 app-1.0.0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, tc.dl, files, lines, tc.hidden...)
			dir := project(t, needs)
			if out, err := s.cargo(dir, "fetch"); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, s.Requests())
			}
			unpacked, err := filepath.Glob(filepath.Join(dir, "home/registry/src/*/*"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range unpacked {
				unpacked[i] = filepath.Base(unpacked[i])
			}
			slices.SortFunc(unpacked, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
			if got := strings.Join(unpacked, " "); got != tc.want {
				t.Errorf("%s\n%s", got, s.Requests())
			}
			lock, err := os.ReadFile(filepath.Join(dir, "Cargo.lock"))
			if err != nil {
				t.Fatal(err)
			}
			if pins := (Ecosystem{}).Pins("Cargo.lock", lock); len(pins) != len(unpacked) {
				t.Errorf("%v", pins)
			}
		})
	}
}

// cargo shows what a refusal says.
func TestCargoIsTold(t *testing.T) {
	files := map[string][]byte{}
	lines := map[string][]string{"app": {library(t, files, "app", "1.0.0", ""), library(t, files, "app", "1.1.0", "")}}
	const need = "app = { version = \"1\", registry = \"forged\" }\n"

	s := serve(t, "/dl", files, lines, "app 1.0.0", "app 1.1.0")
	if out, err := s.cargo(project(t, need), "fetch"); err == nil || !strings.Contains(out, "no matching package") {
		t.Errorf("%v: %s", err, out)
	}
	// An archive that is another crate's.
	files["app 1.1.0"] = files["app 1.0.0"]
	s = serve(t, "/dl", files, lines)
	if out, err := s.cargo(project(t, need), "fetch"); err == nil || !strings.Contains(out, "is not what the registry says") {
		t.Errorf("%v: %s", err, out)
	}
	// Nothing is published, and nothing is searched.
	dir := project(t, need)
	for _, args := range [][]string{
		{"search", "app", "--registry", "forged"},
		{"yank", "app@1.0.0", "--registry", "forged", "--token", "x"},
		{"owner", "--list", "app", "--registry", "forged", "--token", "x"},
		{"publish", "--registry", "forged", "--token", "x", "--no-verify", "--allow-dirty"},
	} {
		out, err := s.cargo(dir, args...)
		if err == nil || !strings.Contains(out, "publishing, yanking") {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	}
}
