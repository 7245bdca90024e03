package packages

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// The bounds of looking for lockfiles in a workspace.
const (
	maxLockfile = 64 << 20
	pinDepth    = 4 // directories below the workspace
	pinFiles    = 20_000
)

// readPins reads what the lockfiles of a workspace pin, before its agent can change them. A
// file that cannot be read pins nothing.
func readPins(workspace string, ecosystems []registry.Ecosystem) map[string]bool {
	pins := make(map[string]bool)
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return pins
	}
	defer root.Close()
	looked := 0
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if looked++; err != nil || looked > pinFiles {
			return fs.SkipAll
		}
		if d.IsDir() {
			name := d.Name()
			if name == "node_modules" || name == ".git" || name == "target" || name == "vendor" || strings.Count(path, "/") >= pinDepth {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !isLockfile(d.Name()) {
			return nil
		}
		data := readBounded(root, path)
		for _, e := range ecosystems {
			for _, pin := range e.Pins(filepath.Base(path), data) {
				pins[key(e.Name(), pin.Name, pin.Version)] = true
			}
		}
		return nil
	})
	return pins
}

// isLockfile reports whether a file may pin versions, so that others are not read.
func isLockfile(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "lock") || strings.Contains(lower, "requirements") || strings.Contains(lower, "constraints") || lower == "go.mod" || lower == "go.sum" || lower == "npm-shrinkwrap.json"
}

func readBounded(root *os.Root, path string) []byte {
	f, err := root.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLockfile))
	if err != nil {
		return nil
	}
	return data
}
