package packages

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/pypi"
)

// Limits of the search for lockfiles in a workspace.
const (
	maxLockfile  = 64 << 20  // bytes of one
	maxLockfiles = 128 << 20 // bytes of all
	mostPins     = 1_000_000
	pinDepth     = 4      // directories below the workspace
	pinFiles     = 20_000 // files and directories that are looked at
)

// lockfiles is what the lockfiles of a workspace say.
type lockfiles struct {
	pins  map[string]string // paths of lockfiles, by ecosystem, name, version
	needs []need
}

// need is a package that another one needs.
type need struct{ ecosystem, by, name string }

// needer is an Ecosystem whose lockfiles say which package needs which.
type needer interface {
	// Needs calls f for each dependency in a lockfile. by is "" for the project itself.
	Needs(base string, data []byte, f func(by, name string))
}

// readLockfiles reads the lockfiles of a workspace before its agent can change them. It ignores
// files that cannot be read.
func readLockfiles(workspace string, ecosystems []registry.Ecosystem) lockfiles {
	all := lockfiles{pins: make(map[string]string)}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return all
	}
	defer root.Close()
	looked, left := 0, int64(maxLockfiles)
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
		data := readBounded(root, path, min(left, maxLockfile))
		left -= int64(len(data))
		for _, e := range ecosystems {
			for _, pin := range e.Pins(filepath.Base(path), data) {
				if len(all.pins) >= mostPins {
					return fs.SkipAll
				}
				all.pins[versionKey(e.Name(), pin.Name, pin.Version)] = path
			}
			if n, is := e.(needer); is {
				n.Needs(d.Name(), data, func(by, name string) {
					all.needs = append(all.needs, need{e.Name(), cmp.Or(by, "your project"), name})
				})
			}
		}
		return nil
	})
	return all
}

// versionKey returns the same key for all spellings of a version of a package.
func versionKey(ecosystem, name, version string) string {
	if ecosystem == "pypi" {
		version = pypi.VersionKey(version)
	}
	return key(ecosystem, name, version)
}

// isLockfile reports whether a file may pin versions. Other files are not read.
func isLockfile(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "lock") || strings.Contains(lower, "requirements") || strings.Contains(lower, "constraints") || lower == "go.mod" || lower == "go.sum" || lower == "npm-shrinkwrap.json"
}

func readBounded(root *os.Root, path string, most int64) []byte {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // the agent could have made it a pipe
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return data
}
