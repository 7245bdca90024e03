package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// registryHome is a home whose agents install packages from forged registries of this machine,
// and an open workspace in it.
func registryHome(t *testing.T) (home, work string, npm *forged.NPM, python *forged.PyPI) {
	t.Helper()
	home, npm, python = newHome(t), forged.NewNPM(t), forged.NewPyPI(t)
	npm.Public = fmt.Sprintf("http://127-0-0-1.address.invalid:%s/", npm.URL.Port())
	python.Public = fmt.Sprintf("http://127-0-0-1.address.invalid:%s/", python.URL.Port())
	configure(t, home, fmt.Sprintf(`{"registries":{"sources":[{"ecosystem":"npm","url":"%s/"},{"ecosystem":"pypi","url":"%s/simple/","artifacts":["%[2]s/files/"]}]}}`, npm.URL, python.URL))
	work = filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	return home, work, npm, python
}

// An agent installs packages with the real npm: an old enough version without a question, a
// young one that a lockfile pins after an approval. It publishes nothing. With the real pip it
// gets the newest old enough.
func TestPackages(t *testing.T) {
	t.Parallel()
	home, work, npm, python := registryHome(t)
	old, young := time.Now().Add(-1000*time.Hour), time.Now().Add(-5*time.Hour)
	npm.Add("right", forged.NPMVersion{Version: "1.0.0", Published: old})
	npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old, Manifest: map[string]any{"dependencies": map[string]string{"right": "^1.0.0"}}})
	npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young})
	npm.Add("fresh", forged.NPMVersion{Version: "1.1.0", Published: old})
	npm.Add("fresh", forged.NPMVersion{Version: "1.2.0", Published: young})
	for name, text := range map[string]string{
		"package.json":      `{"name":"app","version":"1.0.0","dependencies":{"fresh":"1.2.0"}}`,
		"package-lock.json": `{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"app","version":"1.0.0","dependencies":{"fresh":"1.2.0"}},"node_modules/fresh":{"version":"1.2.0","resolved":"` + npm.Public + `fresh/-/fresh-1.2.0.tgz"}}}`,
	} {
		dir := filepath.Join(work, "pinned")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_ = os.Chmod(dir, 0o777)
	}
	d := drive(t, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	d.send("cd ~ && npm init -y >/dev/null && npm install left; echo installed-$?\r")
	d.see(patience, "added 2 packages", "installed-0", "packages come through the registry plane: npm")
	d.send("clear; cat node_modules/left/package.json | grep -o '2.0.4'; npm publish --loglevel=error --" + strings.TrimPrefix(npm.Public, "http:") + ":_authToken=x; echo published-$?\r")
	d.see(patience, "2.0.4", "npm error 403", "published-1")
	d.send("clear; cd /workspace/pinned && npm ci; echo pinned-$?\r")
	d.see(patience, "younger than 3 days")
	d.send("\x01")
	d.see(patience, "npm fresh@1.2.0, published 5 hours ago; 1.1.0 (1 month) is the newest old enough", "at install: runs nothing")
	d.decide("/approve", func() bool { return len(d.pending()) == 0 })
	d.see(patience, "added 1 package", "pinned-0")
	python.Add("lib", "1.5", old)
	python.Add("app", "1.0", old, "lib>=1")
	python.Add("app", "2.0", young, "lib>=1")
	d.send("clear; python3 -m venv ~/venv && ~/venv/bin/pip install app && ~/venv/bin/python -c 'import app, lib; print(\"got\", app.version, lib.version)'\r")
	d.see(patience, "got 1.0 1.5")
	d.send("clear; ~/venv/bin/pip install app==2.0; echo young-$?\r")
	d.see(patience, "No matching distribution found for app==2.0", "young-1")
	id := d.onlySession().ID
	d.quit()
	audit := d.audit(id)
	for _, want := range []string{`"plane":"package","decision":"escalated-approved"`, `"name":"right"`, `"reason":"registry-method"`, `"name":"lib"`} {
		if !strings.Contains(audit, want) {
			t.Errorf("%s is missing from the audit", want)
		}
	}
	if out, errs, code := d.command("registry", "check", "npm:left@2.1.0"); code != 0 || !strings.Contains(out, "ask (quarantine): left 2.1.0 is younger than 3 days") {
		t.Errorf("registry check: code %d, %s%s", code, out, errs)
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
