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

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

//go:embed all:built
var built embed.FS

// errNotBuilt says that the host's program was built without make.
var errNotBuilt = errors.New("this program was built without the bridge that runs in containers; build it with make build")

// Install returns the path of a file with the bridge, below the directory cache. It
// writes the file when it is missing or is another one. The file's name has the
// digest of its content, because programs of several builds can share a cache.
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
	if isThere(path, data) {
		return path, nil
	}
	err := os.MkdirAll(cache, 0o700)
	if err == nil {
		err = write(path, data)
	}
	if err != nil {
		return "", fault.Wrap("write the bridge for containers", err, "remove "+path+" if it is there, or set IRONCURTAIN_CACHE to a directory of your own")
	}
	return path, nil
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
