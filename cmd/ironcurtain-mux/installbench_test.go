package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// largePackages is how many packages a large project pins.
const largePackages = 900

// largeProject makes a project in dir whose lockfile pins packages of 20 kB in one version.
func largeProject(t testing.TB, dir, version string, npm *forged.NPM) {
	t.Helper()
	versions := map[string]string{}
	for i := range largePackages {
		data := make([]byte, 10<<10)
		_, _ = rand.Read(data)
		name := fmt.Sprintf("package-%d", i)
		npm.Add(name, forged.NPMVersion{Version: version, Published: time.Now().Add(-1000 * time.Hour), Files: map[string]string{"data": hex.EncodeToString(data)}})
		versions[name] = version
	}
	pinned(t, dir, npm, versions)
}

// A large project is installed without a question.
func TestLargeInstall(t *testing.T) {
	t.Parallel()
	home, work, npm := registryHome(t)
	largeProject(t, filepath.Join(work, "large"), "1.0.0", npm)
	d := drive(t, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	d.send("cd large && npm ci --no-audit --no-fund; echo large-$?\r")
	d.see(patience, fmt.Sprintf("added %d packages", largePackages), "large-0")
	if waiting := d.pending(); len(waiting) > 0 {
		t.Errorf("%d questions were asked", len(waiting))
	}
	id := d.onlySession().ID
	d.quit()
	if out, errs, code := d.command("registry", "log", string(id)); code != 0 || strings.Count(out, "\n") < largePackages {
		t.Errorf("registry log: code %d, %d lines, %s", code, strings.Count(out, "\n"), errs)
	}
	if out, errs, code := d.command("audit", "verify"); code != 0 {
		t.Errorf("audit verify: %s%s", out, errs)
	}
}

// BenchmarkInstall measures installs of what is pinned in one version each, from registries of
// this machine that take 0 or 20 ms for each answer: "npm ci" of 900 packages of 20 kB, and 40
// small packages of each other ecosystem. Direct is a container of the same image on the host's
// network; cold goes through the host, which has none of them; warm, when it has all.
//
//	go test -run '^$' -bench Install -benchtime 1x ./cmd/ironcurtain-mux
func BenchmarkInstall(b *testing.B) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(delay.String(), func(b *testing.B) { benchInstall(b, delay) })
	}
}

const (
	installRounds = 3
	smallPackages = 40
)

// An installation is what a client runs in its directory of a {round}, and what it needs to do so
// without the host between.
type installation struct{ client, run, direct string }

func benchInstall(b *testing.B, delay time.Duration) {
	b.Helper()
	home := newHome(b)
	work := filepath.Join(home, "work")
	makeOpen(b, work)
	imagesWithCompilers(b, "shell")
	recipe := standardRecipe
	recipe.Toolchains = slices.Concat(recipe.Toolchains, []string{"go", "rust"})
	client := engine(b)
	image, err := client.EnsureImage(b.Context(), "shell", docker.BuildOptions{CacheDir: cacheDirectory(b), Recipe: recipe})
	if err != nil {
		b.Fatal(err)
	}
	direct := directContainer(b, image, work)
	installations := benchRegistries(b, home, work, delay)
	d := drive(b, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	id := d.onlySession().ID
	for _, i := range installations {
		times := map[string][]time.Duration{}
		measure := func(state string, run func()) {
			began := time.Now()
			run()
			times[state] = append(times[state], time.Since(began))
		}
		for round := range installRounds {
			script := fmt.Sprintf("set -e; cd /workspace/%s%d; ", i.client, round) + strings.ReplaceAll(i.run, "{round}", fmt.Sprint(round))
			measure("direct", func() {
				if out, errs, code, err := client.Exec(b.Context(), direct, []string{"bash", "-c", i.direct + "\n" + script}, "1000:1000"); err != nil || code != 0 {
					b.Fatalf("%s: code %d, %v: %s%s", i.client, code, err, out, errs)
				}
			})
			measure("cold", func() { d.inside(id, script) })
			measure("warm", func() { d.inside(id, script) })
		}
		for state, all := range times {
			b.ReportMetric(float64(median(all).Milliseconds()), i.client+"-"+state+"-p50-ms")
		}
	}
	if waiting := d.pending(); len(waiting) > 0 {
		b.Errorf("%d questions were asked", len(waiting))
	}
}

// directContainer starts a container on the host's network, which ends with the benchmark, and
// returns its id.
func directContainer(b *testing.B, image, work string) string {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "docker", "run", "--detach", "--rm", "--init", "--network", "host",
		"--add-host", "127-0-0-1.address.invalid:127.0.0.1", "--user", "1000:1000", "--volume", work+":/workspace",
		"--env", "HOME=/tmp", "--entrypoint", "sleep", image, "infinity").Output()
	if err != nil {
		b.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	b.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", id).Run() })
	return id
}

// benchRegistries makes registries, and in work a project a round for each client. They stand there
// before the session, so that their names are known.
func benchRegistries(b *testing.B, home, work string, delay time.Duration) []installation {
	b.Helper()
	npm, python, modules, crates, repo := forged.NewNPM(b), forged.NewPyPI(b), forged.NewGo(b), forged.NewCargo(b), forged.NewApt(b)
	addresses := map[http.Handler]*url.URL{npm: npm.URL, python: python.URL, modules: modules.URL, crates: crates.URL, repo: repo.URL}
	for handler, address := range addresses {
		*address = *slowed(b, handler, delay)
	}
	public := func(u *url.URL) string { return fmt.Sprintf("http://127-0-0-1.address.invalid:%s/", u.Port()) }
	npm.Public, python.Public, crates.Public = public(npm.URL), public(python.URL), public(crates.URL)
	configure(b, home, fmt.Sprintf(`{"images":{"tools":["build","node","python","go","rust"]},"gitHosts":["code.example"],"registries":{"quarantineHours":{"go":0},"sources":[
		{"ecosystem":"npm","url":"%s/"},
		{"ecosystem":"pypi","url":"%s/simple/","artifacts":["%[2]s/files/"]},
		{"ecosystem":"go","url":"%s/","keys":[%q]},
		{"ecosystem":"cargo","url":"%s/index/","artifacts":["%[5]s/dl/"]},
		{"ecosystem":"apt","url":"%s/","suites":["stable main"],"keys":[%q]}]}}`,
		npm.URL, python.URL, modules.URL, modules.Key, crates.URL, repo.URL, repo.Keyring))
	old := time.Now().Add(-1000 * time.Hour)
	var index strings.Builder
	for round := range installRounds {
		version := fmt.Sprintf("1.0.%d", round)
		largeProject(b, filepath.Join(work, fmt.Sprintf("npm%d", round)), version, npm)
		pins := map[string]string{"go.mod": "module app\n\ngo 1.21\n", "Cargo.toml": "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\n"}
		for i := range smallPackages {
			name := fmt.Sprintf("small%d", i)
			python.Add(name, version, old)
			modules.Add("code.example/"+name, "v"+version, old)
			crates.Add(name, version, old, nil)
			index.WriteString(repo.AddDeb(b, fmt.Sprintf("%s-round%d", name, round), version, "xz", map[string]string{"usr/share/" + name: name}))
			pins["requirements.txt"] += name + "==" + version + "\n"
			pins["go.mod"] += "require code.example/" + name + " v" + version + "\n"
			pins["Cargo.toml"] += name + " = \"=" + version + "\"\n"
		}
		for client, file := range map[string]string{"pip": "requirements.txt", "go": "go.mod", "cargo": "Cargo.toml", "apt": ""} {
			dir := filepath.Join(work, fmt.Sprintf("%s%d", client, round))
			makeOpen(b, dir)
			if file != "" {
				writeOpen(b, filepath.Join(dir, file), pins[file])
			}
		}
		makeOpen(b, filepath.Join(work, fmt.Sprintf("cargo%d", round), "src"))
		writeOpen(b, filepath.Join(work, fmt.Sprintf("cargo%d", round), "src", "lib.rs"), "")
	}
	repo.Put("dists/stable/main/binary-amd64/Packages", []byte(index.String()))
	repo.Publish(b, "stable")
	data, err := os.ReadFile(repo.Keyring)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "keyring.gpg"), data, 0o644); err != nil {
		b.Fatal(err)
	}
	return []installation{
		{"npm", "rm -rf node_modules ~/.npm; npm ci --no-audit --no-fund", "export npm_config_registry=" + npm.Public},
		{"pip", "rm -rf t; pip3 install -q --no-cache-dir --target t -r requirements.txt", "export PIP_TRUSTED_HOST=127-0-0-1.address.invalid PIP_INDEX_URL=" + python.Public + "simple/"},
		{"go", "export GOMODCACHE=$(mktemp -d) GOFLAGS=-modcacherw; go mod download; rm -rf $GOMODCACHE", "export GOPROXY=" + public(modules.URL) + " GOSUMDB=" + modules.Key},
		{"cargo", "rm -rf ~/.cargo/registry Cargo.lock; cargo fetch -q", "mkdir -p ~/.cargo; printf '[source.crates-io]\nreplace-with = \"forged\"\n[source.forged]\nregistry = \"sparse+" + crates.Public + "index/\"\n' >~/.cargo/config.toml"},
		{
			"apt", "rm -rf *; export L=$(mktemp -d); apt-get -qq -o Dir::State::Lists=$L update; apt-get -qq -o Dir::State::Lists=$L download $(seq -f 'small%g-round{round}' 0 " + fmt.Sprint(smallPackages-1) + "); rm -rf $L",
			"printf 'Dir::Etc::SourceParts \"/dev/null\";\nDir::Etc::SourceList \"/tmp/sources\";\nDir::Cache \"/tmp/cache\";\n' >/tmp/apt.conf; mkdir -p /tmp/cache/archives/partial; export APT_CONFIG=/tmp/apt.conf; echo 'deb [signed-by=/workspace/keyring.gpg] " + public(repo.URL) + " stable main' >/tmp/sources",
		},
	}
}

// slowed serves what a handler answers after a delay.
func slowed(b *testing.B, handler http.Handler, delay time.Duration) *url.URL {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay) //nolint:forbidigo // how far away the registry is
		handler.ServeHTTP(w, r)
	}))
	b.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		b.Fatal(err)
	}
	return u
}
