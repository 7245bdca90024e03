package main

import (
	"encoding/json"
	"encoding/pem"
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

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// registryHome is a home whose agents install packages from forged registries of this machine
// without TLS, and an open workspace in it.
func registryHome(t testing.TB) (home, work string, npm *forged.NPM) {
	t.Helper()
	home, npm = newHome(t), forged.NewNPM(t)
	return home, useRegistries(t, home, npm, forged.NewPyPI(t)), npm
}

// useRegistries lets the agents of a home install from these, and returns an open workspace in it.
func useRegistries(t testing.TB, home string, npm *forged.NPM, python *forged.PyPI) (work string) {
	t.Helper()
	npm.Public = fmt.Sprintf("%s://127-0-0-1.address.invalid:%s/", npm.URL.Scheme, npm.URL.Port())
	python.Public = fmt.Sprintf("%s://127-0-0-1.address.invalid:%s/", python.URL.Scheme, python.URL.Port())
	configure(t, home, fmt.Sprintf(`{"registries":{"sources":[{"ecosystem":"npm","url":"%s/"},{"ecosystem":"pypi","url":"%s/simple/","artifacts":["%[2]s/files/"]}]}}`, npm.URL, python.URL))
	work = filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	return work
}

// withTLS starts registries anew, with TLS, and returns the beginning of a command line whose
// program trusts them.
func withTLS(t *testing.T, home string, registries map[http.Handler]*url.URL) []string {
	t.Helper()
	var trusted []byte
	for handler, address := range registries {
		server := httptest.NewTLSServer(handler)
		t.Cleanup(server.Close)
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		*address = *u
		trusted = append(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})...)
	}
	file := filepath.Join(home, "trusted.pem")
	if err := os.WriteFile(file, trusted, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"env", "SSL_CERT_FILE=" + file}
}

// pinned makes a project whose lockfile pins versions without digests.
func pinned(t testing.TB, dir string, npm *forged.NPM, versions map[string]string) {
	t.Helper()
	makeOpen(t, dir)
	root := map[string]any{"name": "app", "version": "1.0.0", "dependencies": versions}
	locked := map[string]any{"": root}
	for name, v := range versions {
		locked["node_modules/"+name] = map[string]string{"version": v, "resolved": npm.Public + name + "/-/" + name + "-" + v + ".tgz"}
	}
	for name, content := range map[string]any{
		"package.json":      root,
		"package-lock.json": map[string]any{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "packages": locked},
	} {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		writeOpen(t, filepath.Join(dir, name), string(text))
	}
}

// An agent installs packages with the real npm: an old enough version without a question, a
// young one that a lockfile pins after an approval, and twelve of them after one question. It
// publishes nothing. With the real pip it gets the newest old enough.
func TestPackages(t *testing.T) {
	t.Parallel()
	home, npm, python := newHome(t), forged.NewNPM(t), forged.NewPyPI(t)
	argv := withTLS(t, home, map[http.Handler]*url.URL{npm: npm.URL, python: python.URL})
	work := useRegistries(t, home, npm, python)
	old, young := time.Now().Add(-1000*time.Hour), time.Now().Add(-5*time.Hour)
	npm.Sign(time.Time{})
	npm.Add("right", forged.NPMVersion{Version: "1.0.0", Published: old})
	npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old, Manifest: map[string]any{"dependencies": map[string]string{"right": "^1.0.0"}}})
	npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young})
	npm.Add("fresh", forged.NPMVersion{Version: "1.1.0", Published: old})
	npm.Add("fresh", forged.NPMVersion{Version: "1.2.0", Published: young})
	pinned(t, filepath.Join(work, "pinned"), npm, map[string]string{"fresh": "1.2.0"})
	twelve := map[string]string{}
	for _, letter := range strings.Split("alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima", " ") {
		npm.Add(letter, forged.NPMVersion{Version: "1.0.0", Published: young})
		twelve[letter] = "1.0.0"
	}
	pinned(t, filepath.Join(work, "twelve"), npm, twelve)
	d := driveArgv(t, home, 120, 40, append(argv, "ironcurtain-mux", "--agent", "shell", "--workspace", work)...)
	d.see(patience, "/workspace$")
	d.send("cd ~ && npm init -y >/dev/null && npm install left; echo installed-$?\r")
	d.see(patience, "npm packages come through the host") // for a moment only
	d.see(patience, "added 2 packages", "installed-0")
	d.send("clear; cat node_modules/left/package.json | grep -o '2.0.4'; npm publish --loglevel=error --" + strings.TrimPrefix(npm.Public, "https:") + ":_authToken=x; echo published-$?\r")
	d.see(patience, "2.0.4", "npm error 403", "published-1")
	d.send("clear; cd /workspace/pinned && npm ci; echo pinned-$?\r")
	d.see(patience, "younger than 3 days")
	d.send("\x01")
	d.see(patience, "npm fresh@1.2.0, published 5 hours ago; 1.1.0 (1 month) is the newest old enough", "at install: runs nothing")
	d.decide("/approve", func() bool { return len(d.pending()) == 0 })
	d.see(patience, "added 1 package", "pinned-0")
	d.send("clear; cd /workspace/twelve && npm ci; echo twelve-$?\r")
	d.see(patience, "12 packages are so young that they need your approval", " · 12 wait")
	waiting := d.pending()
	if len(waiting) != 1 {
		t.Fatalf("twelve young pins are %d questions", len(waiting))
	}
	if _, errs, code := d.command("approve", waiting[0].ID); code != 0 {
		t.Fatalf("approve: %s", errs)
	}
	d.see(patience, "added 12 packages", "twelve-0")
	python.Add("lib", "1.5", old)
	python.Add("app", "1.0", old, "lib>=1")
	python.Add("app", "2.0", young, "lib>=1")
	d.send("clear; python3 -m venv ~/venv && ~/venv/bin/pip install app && ~/venv/bin/python -c 'import app, lib; print(\"got\", app.version, lib.version)'\r")
	d.see(patience, "got 1.0 1.5")
	d.send("clear; ~/venv/bin/pip install app==2.0; echo young-$?\r")
	d.see(patience, "No matching distribution found for app==2.0", "young-1")
	d.send("\x01/registries\r")
	d.see(patience, "named by config.json", "1 version of npm left", "0 waiting", "refused")
	d.send("q")
	id := d.onlySession().ID
	d.quit()
	audit := d.audit(id)
	for _, want := range []string{`"plane":"package","decision":"escalated-approved"`, `"name":"right"`, `"reason":"registry-method"`, `"name":"lib"`} {
		if !strings.Contains(audit, want) {
			t.Errorf("%s is missing from the audit", want)
		}
	}
	if _, errs, code := d.command("registry", "check", "npm:left@2.1.0"); code != cli.ExitFailure || !strings.Contains(errs, "certificate signed by unknown authority") {
		t.Errorf("registry check without the certificate: code %d, %s", code, errs)
	}
	check := exec.CommandContext(t.Context(), argv[0], append(argv[1:], "ironcurtain-mux", "registry", "check", "npm:left@2.1.0")...)
	check.Env = environment(home, cacheDirectory(t))
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "ask (quarantine): left 2.1.0 is younger than 3 days") {
		t.Errorf("registry check: %v, %s", err, out)
	}
	if out, errs, code := d.command("registry", "log"); code != 0 || !strings.Contains(out, "fresh@1.2.0") || !strings.Contains(out, "publishing") {
		t.Errorf("registry log: code %d, %s%s", code, out, errs)
	}
	if out, errs, code := d.command("registry", "gc"); code != 0 || !strings.Contains(out, "removed 0 MB") {
		t.Errorf("registry gc: code %d, %s%s", code, out, errs)
	}
	requests, _ := npm.Requests()
	for _, r := range requests {
		if !strings.HasPrefix(r, "GET /") && r != "POST /-/npm/v1/security/advisories/bulk" {
			t.Errorf("the registry was asked for %s", r)
		}
	}
	for _, r := range python.Requests() {
		if !strings.HasPrefix(r, "GET /simple/") && !strings.HasPrefix(r, "GET /files/") {
			t.Errorf("the index was asked for %s", r)
		}
	}
}

// A Go and a Rust project get what they depend on with the real go and cargo, and lockfiles with
// the hashes of a direct install and of the index.
func TestPackagesOfCompilers(t *testing.T) {
	t.Parallel()
	home, modules, crates := newHome(t), forged.NewGo(t), forged.NewCargo(t)
	direct := modules.URL.String()
	argv := withTLS(t, home, map[http.Handler]*url.URL{modules: modules.URL, crates: crates.URL})
	crates.Public = fmt.Sprintf("https://127-0-0-1.address.invalid:%s/", crates.URL.Port())
	configure(t, home, fmt.Sprintf(`{"images":{"tools":["build","node","python","go","rust"]},"gitHosts":["code.example"],"registries":{"quarantineHours":{"go":0,"cargo":72},"sources":[
		{"ecosystem":"go","url":"%s/","keys":[%q]},
		{"ecosystem":"cargo","url":"%s/index/","artifacts":["%[3]s/dl/"]}]}}`, modules.URL, modules.Key, crates.URL))
	imagesWithCompilers(t, "shell")
	old, young := time.Now().Add(-1000*time.Hour), time.Now().Add(-5*time.Hour)
	modules.Add("code.example/left", "v1.2.0", old, "code.example/right v1.0.0")
	modules.Add("code.example/right", "v1.0.0", old)
	crates.Add("left-crate", "1.2.0", old, map[string]string{"right-crate": "^1"})
	crates.Add("left-crate", "1.3.0", young, nil)
	crates.Add("right-crate", "1.0.0", old, nil)
	d := driveArgv(t, home, 120, 40, append(argv, "ironcurtain-mux", "--agent", "shell")...)
	d.see(patience, "/workspace$")
	d.send("mkdir ~/g && cd ~/g && go mod init app 2>/dev/null && go get code.example/left@latest && printf 'package main\\nimport \"code.example/left\"\\nfunc main() { println(\"go has\", left.Version) }\\n' >main.go && go run . && go mod verify; echo go-$?\r")
	d.see(patience, "go has v1.2.0", "all modules verified", "go-0")
	d.send("clear; cargo new -q ~/r && cd ~/r && cargo add -q left-crate && printf 'fn main() { println!(\"cargo has {}\", left_crate::version()) }\\n' >src/main.rs && cargo run -q; echo cargo-$?; grep -c checksum Cargo.lock; cargo publish --allow-dirty --token x; echo published-$?\r")
	d.see(patience, "cargo has 1.2.0", "cargo-0", "published-101")
	id := d.onlySession().ID
	if got, want := d.inside(id, "cat ~/g/go.sum"), sumsOf(t, "code.example/left@latest", direct, modules.Key); got != want {
		t.Errorf("go.sum is\n%s\nwithout a container it is\n%s", got, want)
	}
	lock := d.inside(id, "cat ~/r/Cargo.lock")
	for name, version := range map[string]string{"left-crate": "1.2.0", "right-crate": "1.0.0"} {
		if !strings.Contains(lock, crates.Digest(name, version)) {
			t.Errorf("Cargo.lock lacks the digest of %s:\n%s", name, lock)
		}
	}
	d.quit()
	for _, r := range append(modules.Requests(), crates.Requests()...) {
		if !strings.HasPrefix(r, "GET /") {
			t.Errorf("a registry was asked for %s", r)
		}
	}
}

// A Python project gets what it depends on with Debian's poetry, and a lockfile with the digests
// of the index.
func TestPackagesOfPoetry(t *testing.T) {
	t.Parallel()
	home, python := newHome(t), forged.NewPyPI(t)
	work := filepath.Join(home, "poetry")
	python.Public = fmt.Sprintf("http://127-0-0-1.address.invalid:%s/", python.URL.Port())
	configure(t, home, fmt.Sprintf(`{"images":{"packages":["python3-poetry"]},"registries":{"sources":[{"ecosystem":"pypi","url":"%s/simple/","artifacts":["%[1]s/files/"]}]}}`, python.URL))
	old, young := time.Now().Add(-1000*time.Hour), time.Now().Add(-5*time.Hour)
	python.Add("lib", "1.5", old)
	python.Add("app", "1.0", old, "lib>=1")
	python.Add("app", "2.0", young, "lib>=1")
	makeOpen(t, work)
	writeOpen(t, filepath.Join(work, "pyproject.toml"), `[tool.poetry]
name = "mine"
version = "1.0.0"
description = ""
authors = []
packages = []
[tool.poetry.dependencies]
python = "^3.9"
app = "*"
[[tool.poetry.source]]
name = "forged"
url = "`+python.Public+`simple/"
priority = "primary"
`)
	d := drive(t, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	d.send("poetry install --no-root -n; echo install-$?; poetry run python -c 'import app, lib; print(\"got\", app.version, lib.version)'\r")
	d.see(patience, "install-0", "got 1.0 1.5")
	lock, there := workOf(t, d.onlySession()).read("poetry.lock")
	if !there {
		t.Fatal("there is no lockfile")
	}
	for _, listed := range []string{python.Digest("app", "1.0"), python.Digest("lib", "1.5")} {
		if !strings.Contains(lock, "sha256:"+listed) {
			t.Errorf("the lockfile lacks %s:\n%s", listed, lock)
		}
	}
	d.send("clear; poetry config repositories.forged " + python.Public + "upload/; mkdir dist; touch dist/mine-1.0.0.tar.gz; poetry publish -n -r forged -u x -p y; echo published-$?\r")
	d.see(patience, "HTTP Error 403: this address belongs to no package registry", "published-1")
	d.quit()
	for _, r := range python.Requests() {
		if !strings.HasPrefix(r, "GET /") {
			t.Errorf("the index was asked for %s", r)
		}
	}
}

// sumsOf is the go.sum of a module that gets another one from a proxy without a container.
func sumsOf(t *testing.T, get, proxy, key string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "go mod init app && go get "+get)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOPROXY=" + proxy, "GOSUMDB=" + key, "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go without a container: %v: %s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	return string(sums)
}

// An agent installs Debian packages with the real apt-get, although nobody in its container is
// root, uses them, and removes them. What is not signed or not as listed does not get in, and
// the image's own packages stay.
func TestPackagesOfApt(t *testing.T) {
	t.Parallel()
	home, repo := newHome(t), forged.NewApt(t)
	const pool = "pool/main/l/left-tool/left-tool_2.0_amd64.deb"
	script := func(text string) string { return "#!/bin/sh\necho " + text + "\n" }
	index := repo.AddDeb(t, "right-tool", "1.0", "xz", map[string]string{"usr/bin/right-tool": script("right says $1")}) +
		repo.AddDeb(t, "left-tool", "2.0", "zstd", map[string]string{"usr/bin/left-tool": "#!/bin/sh\nexec right-tool from-left\n", "DEBIAN/postinst": script("a script ran")}, "Depends: right-tool (>= 1.0)") +
		repo.AddDeb(t, "forged-tool", "1.0", "xz", map[string]string{"usr/bin/forged-tool": script("forged")})
	repo.Put("dists/stable/main/binary-amd64/Packages", []byte(index))
	repo.Publish(t, "stable")
	known := repo.Key
	repo.Key = forged.NewAptKey(t)
	repo.Publish(t, "testing")
	repo.Key = known
	const evil = "pool/main/f/forged-tool/forged-tool_1.0_amd64.deb"
	repo.Put(evil, forged.Deb(t, "forged-tool", "1.0", "xz", map[string]string{"usr/bin/forged-tool": script("evil")}))
	configure(t, home, fmt.Sprintf(`{"registries":{"sources":[{"ecosystem":"apt","url":"%s/","suites":["stable main","testing main"],"keys":[%q]}]}}`, repo.URL, repo.Keyring))
	d := drive(t, home, 120, 40, "--agent", "shell")
	d.see(patience, "/workspace$")
	d.send("apt-get update; apt-get install -y left-tool && left-tool; echo apt-$?\r")
	d.see(patience, "the Release of testing is not signed with a key that this machine has", "Unpacked left-tool (2.0)", "right says from-left", "apt-0")
	d.send("clear; apt-get install -y forged-tool; echo forged-$?; apt-get remove -y git; echo removed-$?; git --version\r")
	d.see(patience, "403", "forged-100", "Held packages were changed", "removed-100", "git version")
	d.send("clear; apt-get remove -y left-tool && ! test -e ~/.apt/root/usr/bin/left-tool && right-tool stays; echo gone-$?\r")
	d.see(patience, "right says stays", "gone-0")
	id := d.onlySession().ID
	d.quit()
	if audit := d.audit(id); !strings.Contains(audit, `"name":"left-tool"`) || !strings.Contains(audit, `"reason":"registry-digest"`) {
		t.Error("the audit lacks a package or a refusal")
	}
	if out, errs, code := d.command("registry", "log"); code != 0 || !strings.Contains(out, "left-tool@2.0") {
		t.Errorf("registry log: code %d, %s%s", code, out, errs)
	}
	if requests := repo.Requests(); !slices.Contains(requests, "GET /"+pool) {
		t.Errorf("the repository was asked for %q", requests)
	}
	for _, r := range repo.Requests() {
		if !strings.HasPrefix(r, "GET /dists/") && !strings.HasPrefix(r, "GET /pool/") {
			t.Errorf("the repository was asked for %s", r)
		}
	}
}
