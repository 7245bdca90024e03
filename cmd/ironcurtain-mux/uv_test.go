package main

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// uvProject is a project that needs app.
const uvProject = `[project]
name = "mine"
version = "1.0.0"
requires-python = ">=3.9"
dependencies = ["app"]
`

// uv installs in a container what it would install without one, and writes the same lockfile; a
// young version is hidden from it. It uploads nothing.
func TestPackagesOfUV(t *testing.T) {
	t.Parallel()
	home, npm, python := newHome(t), forged.NewNPM(t), forged.NewPyPI(t)
	proxy := python.URL.String()
	argv := withTLS(t, home, map[http.Handler]*url.URL{python: python.URL})
	work := useRegistries(t, home, npm, python)
	old := time.Now().Add(-1000 * time.Hour)
	python.Add("lib", "1.5", old)
	python.Add("app", "1.0", old, "lib>=1")
	uv := packageClient{name: "uv", pkg: "@manzt/uv-linux-" + map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH] + "@0.8.13"}
	program := filepath.Join(work, "tools", "uv", "bin", "uv")
	uv.fetch(t, filepath.Join(work, "tools", "uv"))
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	direct, inside := filepath.Join(home, "direct"), filepath.Join(work, "project")
	for _, dir := range []string{direct, inside} {
		makeOpen(t, dir)
		writeOpen(t, filepath.Join(dir, "pyproject.toml"), uvProject)
	}
	lock := exec.CommandContext(t.Context(), program, "lock", "--default-index", python.Public+"simple", "--allow-insecure-host", "127-0-0-1.address.invalid")
	lock.Dir, lock.Env = direct, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "HTTPS_PROXY=" + proxy, "UV_PYTHON_DOWNLOADS=never"}
	if out, err := lock.CombinedOutput(); err != nil {
		t.Fatalf("uv without a container: %v: %s", err, out)
	}
	python.Add("app", "2.0", time.Now().Add(-5*time.Hour), "lib>=1")
	before := len(python.Requests())

	d := driveArgv(t, home, 120, 40, append(argv, "ironcurtain-mux", "--agent", "shell", "--workspace", work)...)
	d.see(patience, "/workspace$")
	d.send("cd project; uv() { /workspace/tools/uv/bin/uv \"$@\"; }; uv sync; echo synced-$?; uv run python -c 'import app, lib; print(\"got\", app.version, lib.version)'\r")
	d.see(patience, "synced-0", "got 1.0 1.5")
	wheel := "app-1.0-py3-none-any.whl"
	d.send("clear; curl -s -o " + wheel + " " + python.Public + "files/" + wheel + " && uv publish --publish-url " + python.Public + "simple/ -t x " + wheel + "; echo published-$?\r")
	d.see(patience, "nothing can be uploaded", "published-2")
	session := d.onlySession().ID
	d.quit()
	d.landed(session)
	got, err := os.ReadFile(filepath.Join(inside, "uv.lock"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(direct, "uv.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the lockfile is\n%s\nwithout a container it is\n%s", got, want)
	}
	for _, r := range python.Requests()[before:] {
		if !strings.HasPrefix(r, "GET /") {
			t.Errorf("the index was asked for %s", r)
		}
	}
}
