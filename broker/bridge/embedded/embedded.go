// Package embedded holds ironcurtain-mux-bridge, the program that runs in containers,
// and lays it down where the container engine can mount it. So the bridge in a
// container and the program on the host are always of one build, and nothing of the
// host's program is in any container.
package embedded

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

//go:embed all:built
var built embed.FS

// errNotBuilt says that the host's program was built without make.
var errNotBuilt = errors.New("this program was built without the bridge that runs in containers; build it with make build")

// Install returns the path of a file with the bridge, below the directory cache. It
// writes the file when it is missing or is another one. The file's name has the
// digest of its content, because programs of several builds can share a cache. It removes
// those that no build has asked for lately.
func Install(cache string) (string, error) {
	data, err := built.ReadFile("built/ironcurtain-mux-bridge")
	if err != nil {
		return "", errNotBuilt
	}
	return install(cache, data)
}

func install(cache string, data []byte) (string, error) {
	digest := sha256.Sum256(data)
	path := filepath.Join(cache, "bridge-"+hex.EncodeToString(digest[:8]))
	now := time.Now()
	err := os.MkdirAll(cache, 0o700)
	if err == nil && !isThere(path, data) {
		err = write(path, data)
	}
	if err != nil {
		return "", fault.Wrap("write the bridge for containers", err, "remove "+path+" if it is there, or set IRONCURTAIN_CACHE to a directory of your own")
	}
	_ = os.Chtimes(path, now, now) // a cache that cannot be written to keeps what it has
	removeUnused(cache, now.Add(-unused))
	return path, nil
}

// unused is for how long a bridge is kept that no container was started with. One that
// containers have mounted stays theirs without its name.
const unused = 24 * time.Hour

// written is the name of a bridge, or of one whose writing was interrupted.
var written = regexp.MustCompile(`^\.?bridge-[0-9a-f]{16}[0-9]*$`)

// removeUnused removes the bridges that were last asked for before then. What cannot be
// removed is in nobody's way.
func removeUnused(cache string, then time.Time) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && written.MatchString(e.Name()) && info.Mode().IsRegular() && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(cache, e.Name()))
		}
	}
}

// write replaces the file whole, whatever stood there and whatever its mode was.
func write(path string, data []byte) error {
	file, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o555), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// isThere reports whether the file is an ordinary one with this content, which every
// user can run.
func isThere(path string, data []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.FileMode(0o555) || info.Size() != int64(len(data)) {
		return false
	}
	present, err := os.ReadFile(path)
	return err == nil && bytes.Equal(present, data)
}
