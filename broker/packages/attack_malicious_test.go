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
	} {
		t.Run(c.ecosystem+" "+c.listed, func(t *testing.T) {
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
