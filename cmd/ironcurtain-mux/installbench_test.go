package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
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
	home, work, npm, _ := registryHome(t)
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

// BenchmarkInstall measures "npm ci" of 900 packages of 20 kB that a lockfile pins, from a registry
// of this machine: direct, in a container of the same image on the host's network; cold, through
// the host, which has none of them; and warm, when it has all.
//
//	go test -run '^$' -bench Install -benchtime 1x ./cmd/ironcurtain-mux
func BenchmarkInstall(b *testing.B) {
	const rounds = 3
	home, work, npm, _ := registryHome(b)
	image, err := engine(b).EnsureImage(b.Context(), "shell", docker.BuildOptions{CacheDir: cacheDirectory(b), Recipe: standardRecipe})
	if err != nil {
		b.Fatal(err)
	}
	for round := range rounds { // the lockfiles stand there before the session, so that their names are known
		largeProject(b, filepath.Join(work, fmt.Sprintf("round%d", round)), fmt.Sprintf("1.0.%d", round), npm)
	}
	d := drive(b, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	id := d.onlySession().ID
	times := map[string][]time.Duration{}
	for round := range rounds {
		install := fmt.Sprintf("cd /workspace/round%d", round) + " && rm -rf node_modules ~/.npm && npm ci --no-audit --no-fund >/dev/null"
		measure := func(name string, run func()) {
			began := time.Now()
			run()
			times[name] = append(times[name], time.Since(began))
		}
		measure("direct", func() {
			cmd := exec.CommandContext(b.Context(), "docker", "run", "--rm", "--network", "host", "--add-host", "127-0-0-1.address.invalid:127.0.0.1",
				"--user", "1000:1000", "--volume", work+":/workspace", "--env", "HOME=/tmp", "--entrypoint", "bash", image, "-c", install)
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		})
		measure("cold", func() { d.inside(id, install) })
		measure("warm", func() { d.inside(id, install) })
	}
	if waiting := d.pending(); len(waiting) > 0 {
		b.Errorf("%d questions were asked", len(waiting))
	}
	for name, all := range times {
		b.ReportMetric(float64(median(all).Milliseconds()), name+"-p50-ms")
	}
}
