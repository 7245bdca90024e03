package packages

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// A report finds its package in whichever spelling the registry has it.
func TestListedInAnotherSpelling(t *testing.T) {
	for _, c := range []struct {
		ecosystem, listed, versions string // as OSV writes them
		ours, name, version         string // as registries do
		want                        bool
	}{
		{"PyPI", "Evil_Thing", `"1.0"`, "pypi", "evil-thing", "1.0", true},
		{"PyPI", "evil.-thing", ``, "pypi", "evil-thing", "2.0", true},
		{"PyPI", "evil", `"1.0"`, "pypi", "evil", "1.1", false},
		{"PyPI", "evil", `"v1.0-rc1"`, "pypi", "evil", "1.0.0rc1", true},
		{"crates:x", "evil-thing", `"1.0.0"`, "cargo", "evil_thing", "1.0.0", true},
		{"Go", "evil.example/x", `"1.0.0"`, "go", "evil.example/x", "v1.0.0", true},
		{"npm", "left", `"1.0.0"`, "npm", "Left", "1.0.0", false},
		{"npm", "left", `"1.0.0"`, "npm", "left", "1.0.0", true},
		{"npm", "left", `"1.0.0"`, "npm", "left", "1.0.0+x", true},
		{"npm", "left", `"v1.0.0"`, "npm", "left", "1.0.0", true},
		{"npm", "left", `"1.0.0"`, "npm", "left", "1.0.0-x", false},
		{"crates:x", "evil", `"1.0.0+a"`, "cargo", "evil", "1.0.0+b", true},
		{"PyPI", "evil", `"1.0"`, "pypi", "evil", "1.0+x", false},
		{"PyPI", "evil", `"0!1.0-1"`, "pypi", "evil", "1.0.post1", true},
		{"PyPI", "evil", `"1!1.0"`, "pypi", "evil", "1.0", false},
		{"PyPI", "evil", `"1.0.0"], "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}`, "pypi", "evil", "2.0", true},
		{"PyPI", "evil", `], "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"1.0"},{"fixed":"1.1"}]}`, "pypi", "evil", "1.0.1", true},
		{"PyPI", "evil", `"1.0.1"], "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"1.0"},{"fixed":"1.1"}]}`, "pypi", "evil", "1.1", false},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}`, "npm", "left", "9.0.0", true},
		{"npm", "left", `"1.0.0"], "ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}`, "npm", "left", "9.0.0", true},
		{"npm", "left", `"1.0.0"], "ranges":[{"type":"GIT","events":[{"introduced":"0"}]}`, "npm", "left", "9.0.0", false},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"fixed":"1.2.0"},{"introduced":"2.0.0"}]}`, "npm", "left", "1.1.9", true},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"fixed":"1.2.0"},{"introduced":"2.0.0"}]}`, "npm", "left", "1.2.0", false},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"fixed":"1.2.0"},{"introduced":"2.0.0"}]}`, "npm", "left", "2.0.1", true},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"last_affected":"1.2.0"}]}`, "npm", "left", "1.2.0", true},
		{"npm", "left", `], "ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"last_affected":"1.2.0"}]}`, "npm", "left", "1.2.1", false},
	} {
		t.Run(c.ecosystem+" "+c.listed+" "+c.version, func(t *testing.T) {
			dir := t.TempDir()
			report := `{"id":"MAL-2030-1","affected":[{"package":{"ecosystem":"` + c.ecosystem + `","name":"` + c.listed + `"},"versions":[` + c.versions + `]}]}`
			if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(report), 0o600); err != nil {
				t.Fatal(err)
			}
			kept, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			m, err := ReadMalicious([]string{dir}, kept)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Find(c.ours, c.name, c.version) != ""; got != c.want {
				t.Errorf("found: %v", got)
			}
		})
	}
}
