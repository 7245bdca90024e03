package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// packageClient is a package manager that npm can fetch, with its version.
type packageClient struct {
	name, pkg string
	argv      string // below the unpacked package
	install   string
	lockfile  string
	writes    []string // what it must not be able to do
}

var packageClients = []packageClient{
	{
		"pnpm", "pnpm@10.34.9", "node bin/pnpm.cjs", "install", "pnpm-lock.yaml",
		[]string{"publish --no-git-checks", "dist-tag add left@2.0.4 next", "whoami"},
	},
	{
		"yarn 1", "yarn@1.22.22", "node bin/yarn.js", "install --non-interactive", "yarn.lock",
		[]string{"publish --non-interactive --new-version 1.0.1", "tag add left@2.0.4 next", "owner add mallory left"},
	},
	{
		"yarn 4", "@yarnpkg/cli-dist@4.18.1", "node bin/yarn.js", "install", "yarn.lock",
		[]string{"npm publish", "npm tag add left@2.0.4 next", "npm whoami"},
	},
	{
		"bun", "@oven/bun-linux-{arch}@1.4.5", "bin/bun", "install", "bun.lock",
		[]string{"publish", "pm whoami"},
	},
}

// fetch unpacks the client into dir. Its archive is kept in the cache.
func (c *packageClient) fetch(t *testing.T, dir string) {
	t.Helper()
	arch := map[string]string{"amd64": "x64-baseline", "arm64": "aarch64"}[runtime.GOARCH]
	pkg := strings.ReplaceAll(c.pkg, "{arch}", arch)
	archive := filepath.Join(cacheDirectory(t), "client-"+strings.NewReplacer("@", "", "/", "-").Replace(pkg)+".tgz")
	if _, err := os.Stat(archive); err != nil {
		fresh := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", fresh, pkg)
		cmd.Dir = fresh
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("get %s: %v: %s", pkg, err, out)
		}
		found, err := filepath.Glob(filepath.Join(fresh, "*.tgz"))
		if err != nil || len(found) != 1 {
			t.Fatalf("npm left %q", found)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		fresh = archive + "." + filepath.Base(t.TempDir()) // renamed, so that tests beside it see whole files only
		if err := os.WriteFile(fresh, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, archive); err != nil {
			t.Fatal(err)
		}
	}
	makeOpen(t, dir)
	if out, err := exec.CommandContext(t.Context(), "tar", "xzf", archive, "-C", dir, "--strip-components=1").CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %v: %s", archive, err, out)
	}
}

// command is a command line for it where dir is its directory.
func (c *packageClient) command(dir, arguments string) string {
	program, script, is := strings.Cut(c.argv, " ")
	if !is {
		return dir + "/" + program + " " + arguments
	}
	return program + " " + dir + "/" + script + " " + arguments
}

// makeOpen makes a directory in which an agent can write.
func makeOpen(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
}

// project makes a project that needs left.
func (c *packageClient) project(t *testing.T, dir string, npm *forged.NPM) {
	t.Helper()
	makeOpen(t, dir)
	files := map[string]string{
		"package.json": `{"name":"app","version":"1.0.0","dependencies":{"left":"^2.0.0"}}`,
		".yarnrc.yml":  "nodeLinker: node-modules\nenableTelemetry: false\nnpmAuthToken: x\n",
		".npmrc":       strings.TrimPrefix(npm.Public, "https:") + ":_authToken=x\n",
	}
	if c.name == "yarn 4" { // it takes a project without one for a part of the directory above
		files[c.lockfile] = ""
	}
	for name, text := range files {
		writeOpen(t, filepath.Join(dir, name), text)
	}
}

// writeOpen writes a file that an agent can change.
func writeOpen(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

// direct installs the project on this machine, straight from the registry, by a proxy that knows
// the names of the container.
func (c *packageClient) direct(t *testing.T, tools, dir string, npm *forged.NPM, proxy string) {
	t.Helper()
	home := t.TempDir()
	for _, f := range (agent.Registries{NPM: npm.Public}).HomeFiles() {
		if err := os.WriteFile(filepath.Join(home, f.Path), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".yarnrc"), []byte("strict-ssl false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", c.command(tools, c.install))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	for _, name := range []string{"https_proxy", "HTTPS_PROXY", "YARN_HTTPS_PROXY"} {
		cmd.Env = append(cmd.Env, name+"="+proxy)
	}
	cmd.Env = append(cmd.Env, "NODE_TLS_REJECT_UNAUTHORIZED=0", "NODE_NO_WARNINGS=1", "npm_config_strict_ssl=false", "YARN_ENABLE_STRICT_SSL=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s without a container: %v: %s", c.name, err, out)
	}
}

// Each package manager of npm's registry installs in a container what it would install
// without one, and writes the same lockfile; a young version is hidden from it. It changes
// nothing at the registry.
func TestPackageClients(t *testing.T) {
	t.Parallel()
	home, npm, python := newHome(t), forged.NewNPM(t), forged.NewPyPI(t)
	proxy := npm.URL.String()
	argv := withTLS(t, home, map[http.Handler]*url.URL{npm: npm.URL})
	work := useRegistries(t, home, npm, python)
	old := time.Now().Add(-1000 * time.Hour)
	npm.Add("right", forged.NPMVersion{Version: "1.0.0", Published: old})
	npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old, Manifest: map[string]any{"dependencies": map[string]string{"right": "^1.0.0"}}})
	names := map[string]string{}
	for _, c := range packageClients {
		names[c.name] = strings.ReplaceAll(c.name, " ", "")
		tools := filepath.Join(work, "tools", names[c.name])
		c.fetch(t, tools)
		c.project(t, filepath.Join(work, names[c.name]), npm)
		c.project(t, filepath.Join(home, "direct", names[c.name]), npm)
		c.direct(t, tools, filepath.Join(home, "direct", names[c.name]), npm, proxy)
	}
	npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: time.Now().Add(-5 * time.Hour)})
	before, _ := npm.Requests()

	d := driveArgv(t, home, 120, 40, append(argv, "ironcurtain-mux", "--agent", "shell", "--workspace", work)...)
	d.see(patience, "/workspace$")
	id := d.onlySession().ID
	for _, c := range packageClients {
		t.Run(c.name, func(t *testing.T) {
			name := names[c.name]
			run := func(arguments string) string {
				return d.inside(id, "cd /workspace/"+name+" && timeout 100 "+c.command("/workspace/tools/"+name, arguments)+" </dev/null 2>&1; echo code-$?")
			}
			for _, what := range []string{"fresh", "by the lockfile"} {
				if out := run(c.install); !strings.Contains(out, "code-0") {
					t.Fatalf("%s: %s", what, out)
				}
				for _, file := range []string{c.lockfile, "node_modules/left/package.json"} {
					got, there := workOf(t, d.onlySession()).read(filepath.Join(name, file))
					if !there {
						t.Fatalf("%s: there is no %s", what, file)
					}
					want, err := os.ReadFile(filepath.Join(home, "direct", name, file))
					if err != nil {
						t.Fatal(err)
					}
					if got != string(want) {
						t.Errorf("%s: %s is\n%s\nwithout a container it is\n%s", what, file, got, want)
					}
				}
				d.inside(id, "rm -rf /workspace/"+name+"/node_modules")
			}
			for _, w := range c.writes {
				refused := func() int { return strings.Count(d.audit(id), `"decision":"deny"`) }
				before := refused()
				out := run(w)
				if strings.Contains(out, "code-0") || strings.Contains(out, "code-124") {
					t.Errorf("%s: %s", w, out)
				}
				if refused() == before {
					t.Errorf("%s: no request was refused: %s", w, out)
				}
			}
		})
	}
	d.quit()
	requests, _ := npm.Requests()
	for _, r := range requests[len(before):] {
		if !strings.HasPrefix(r, "GET /") {
			t.Errorf("the registry was asked for %s", r)
		}
	}
}
