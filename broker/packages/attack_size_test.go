package packages

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/npm"
)

// To judge all versions of a document takes a time that grows as their number does.
func TestManyVersions(t *testing.T) {
	w := newWorld(t, nil)
	w.open()
	o := &registry.Origin{Ecosystem: "npm", URL: &url.URL{Scheme: "https", Host: "npm.example", Path: "/"}}
	judge := func(n int) time.Duration {
		f := &registry.Facts{Name: "left"}
		for i := range n {
			f.Versions = append(f.Versions, registry.Version{Version: fmt.Sprintf("1.0.%d", i), Published: old(), Publisher: "alice"})
		}
		used := func() time.Duration {
			var u unix.Rusage
			if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
				t.Fatal(err)
			}
			return time.Duration(u.Utime.Nano())
		}
		before := used()
		for i := range n {
			w.host.judge(registry.Package{Origin: o, Facts: f, Version: &f.Versions[i]}, w.way)
			changed(f, &f.Versions[i])
		}
		return used() - before
	}
	few, many := judge(1000), judge(20_000)
	if many > 80*few+time.Second {
		t.Errorf("1000 versions took %v, 20,000 took %v", few, many)
	}
}

// A registry, an archive and a lockfile cannot make a question so long that nobody reads it.
func TestQuestionIsShort(t *testing.T) {
	w := newWorld(t, nil)
	long := strings.Repeat("x ", 100<<10)
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old(), Manifest: map[string]any{"_npmUser": map[string]string{"name": "alice"}}})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young(), Manifest: map[string]any{
		"_npmUser": map[string]string{"name": long}, "scripts": map[string]string{"install": long, "postinstall": long},
	}})
	lock := fmt.Sprintf(`{"lockfileVersion":3,"packages":{"":{"dependencies":{"app":"1"}},"node_modules/app":{"dependencies":{%q:"1"}},"node_modules/%s":{"dependencies":{"left":"2"}},"node_modules/left":{"version":"2.1.0"}}}`, long, long)
	if err := os.WriteFile(filepath.Join(w.work, "package-lock.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := w.decide(true)
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	var all strings.Builder
	e := <-asked
	for _, l := range e.Effect.Lines {
		all.WriteString(l.Text + "\n")
	}
	size := all.Len()
	for _, want := range []string{"…\"; all earlier versions are by others\n", "…; not so in 2.0.4\n"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if size > 16<<10 || len(e.Effect.Lines) < 8 {
		t.Errorf("%d lines of %d bytes", len(e.Effect.Lines), size)
	}
}

// A document that lists more names than anybody needs makes not all of them known.
func TestDocumentOfManyNames(t *testing.T) {
	w := newWorld(t, nil)
	needs := make(map[string]string)
	for i := range mostKnown + 1000 {
		needs[fmt.Sprint("n", i)] = "1"
	}
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old(), Manifest: map[string]any{"dependencies": needs}})
	if a := w.get("/left"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if n := w.way.names.size("npm"); n != mostKnown {
		t.Errorf("%d names are known", n)
	}
	if n := len(w.way.names.by); n > mostKnown {
		t.Errorf("%d names have a reason", n)
	}
}

// A name that looks like another one only because it has a million dashes is in no question.
func TestLongLookAlike(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("other", forged.NPMVersion{Version: "1.0.0", Published: old(), Manifest: map[string]any{"dependencies": map[string]string{"l" + strings.Repeat("-", 1<<20) + "eft": "1"}}})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young()})
	w.get("/other")
	asked := w.decide(true)
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if e := <-asked; len(e.Effect.Summary)+len(e.Reason) > 1000 {
		t.Errorf("a summary of %d bytes, a reason of %d", len(e.Effect.Summary), len(e.Reason))
	}
}

// The lockfiles of a workspace, which an agent may have written in an earlier session, are read up
// to a bound, so that the next tab opens.
func TestManyLargeLockfiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		path := filepath.Join(dir, name, "yarn.lock")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"@1:\n  version \"1.0.0\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, maxLockfile); err != nil {
			t.Fatal(err)
		}
	}
	pins := readLockfiles(dir, []registry.Ecosystem{npm.Ecosystem{}}).pins
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if (pins[versionKey("npm", name, "1.0.0")] != "") != want {
			t.Errorf("%s: %v", name, pins)
		}
	}
}
