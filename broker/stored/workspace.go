package stored

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ResolveWorkspace returns the real path of a workspace that a person has named, or an error if an
// agent may not work there. No agent may change the cache, because files in it run in every container
// and on the host.
func ResolveWorkspace(given, home, cache, userHome string) (string, error) {
	const next = "give an existing project directory with --workspace"
	path := given
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(userHome, strings.TrimPrefix(path[1:], "/"))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.New(next, "workspace %q: %w", given, err)
	}
	dir, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(next, "workspace %s does not exist", abs)
	}
	if err != nil {
		return "", fault.New(next, "workspace %s: %w", abs, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fault.New(next, "workspace %s: %w", dir, err)
	}
	if !info.IsDir() {
		return "", fault.New(next, "workspace %s is not a directory", dir)
	}
	if err := unix.Access(dir, unix.R_OK|unix.X_OK); err != nil {
		return "", fault.New("give a directory that you can read with --workspace", "workspace %s: %w", dir, err)
	}
	switch {
	case dir == "/" || same(dir, "/"):
		return "", fault.New(next, "workspace %s would give the agent the whole machine", dir)
	case dir == RealPath(userHome) || same(dir, userHome):
		return "", fault.New("give a directory below it with --workspace",
			"workspace %s is your home directory", dir)
	case holds(dir, RealPath(userHome)):
		return "", fault.New(next, "workspace %s contains your home directory", dir)
	case holds(dir, RealPath(home)):
		return "", fault.New(next, "workspace %s contains the state of ironcurtain-mux", dir)
	case holds(RealPath(home), dir) && !ManagedWorkspace(RealPath(home), dir):
		return "", fault.New(next, "workspace %s belongs to ironcurtain-mux itself", dir)
	case cache != "" && holds(dir, RealPath(cache)):
		return "", fault.New(next, "workspace %s contains the cache of ironcurtain-mux", dir)
	case cache != "" && holds(RealPath(cache), dir) && !ManagedWorkspace(RealPath(home), dir):
		return "", fault.New(next, "workspace %s lies in the cache of ironcurtain-mux", dir)
	}
	return dir, nil
}

// ManagedWorkspace reports whether dir is in a session's sandbox or copy, the only directories below
// our state directory in which an agent may work.
func ManagedWorkspace(home, dir string) bool {
	rel, err := filepath.Rel(home, dir)
	if err != nil {
		return false
	}
	parts := strings.Split(rel, string(filepath.Separator))
	return len(parts) >= 3 && parts[0] == "sessions" && (parts[2] == sandboxName || parts[2] == copyName)
}

// holds reports whether path is dir or below dir, even if dir is mounted twice or the file system
// ignores the case of names.
func holds(dir, path string) bool {
	if Contains(dir, path) {
		return true
	}
	for at := path; ; at = filepath.Dir(at) {
		if same(dir, at) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// same reports whether two paths name the same directory.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Contains reports whether path is dir or below dir. Both must be real paths.
func Contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// RealPath resolves links. If it cannot, it returns the cleaned path.
func RealPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}
