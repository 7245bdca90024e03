// Package embedded contains ironcurtain-mux-bridge, the program that runs in containers, for each
// architecture of container engines, and writes it to a file that the engine can mount. So the
// bridge in a container and the program on the host are always of the same build, and the host's
// program is in no container.
package embedded

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// built has one file for each architecture: the SHA-256 of the bridge in hexadecimal, a newline, and
// the bridge as gzip compresses it. The digest is beside it because unpacking takes 50 ms, and the
// bridge is unpacked only when it is written.
//
//go:embed all:built
var built embed.FS

// architectures are those that have a bridge, as Go names them.
var architectures = []string{"amd64", "arm64"}

// names maps the engines' names of architectures to Go's.
var names = map[string]string{"amd64": "amd64", "x86_64": "amd64", "arm64": "arm64", "aarch64": "arm64"}

// bridge is the program for one architecture.
type bridge struct {
	architecture string
	digest       [sha256.Size]byte
	packed       []byte
}

// find returns the bridge for an architecture.
func find(from fs.FS, architecture string) (*bridge, error) {
	data, err := fs.ReadFile(from, "built/ironcurtain-mux-bridge-linux-"+architecture)
	if err != nil {
		return nil, fault.New("build it with 'make build'", "this program was built without the bridge that runs in containers on %s", architecture)
	}
	b := &bridge{architecture: architecture}
	digest, packed, _ := bytes.Cut(data, []byte("\n"))
	if n, err := hex.Decode(b.digest[:], digest[:min(len(digest), hex.EncodedLen(sha256.Size))]); err != nil || n != sha256.Size {
		return nil, b.damaged(errors.New("it has no digest"))
	}
	b.packed = packed
	return b, nil
}

// unpack returns the program.
func (b *bridge) unpack() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b.packed))
	if err != nil {
		return nil, b.damaged(err)
	}
	data, err := io.ReadAll(r)
	if err == nil && sha256.Sum256(data) != b.digest {
		err = errors.New("it does not have its digest")
	}
	if err != nil {
		return nil, b.damaged(err)
	}
	return data, nil
}

func (b *bridge) damaged(err error) error {
	return fault.Wrap("unpack the bridge for "+b.architecture, err, "build the program again with 'make build'")
}

// Digests returns the SHA-256 of the embedded bridges, in hexadecimal, by architecture. A program
// that was built without make has none.
func Digests() map[string]string {
	all := map[string]string{}
	for _, architecture := range architectures {
		if b, err := find(built, architecture); err == nil {
			all[architecture] = hex.EncodeToString(b.digest[:])
		}
	}
	return all
}

// Install returns the path of a file with the bridge for an engine's architecture, in the directory
// cache. It writes the file if it is missing or differs. The file's name has the digest of its
// content, because several builds can share a cache. It removes bridges that no build has asked for
// lately.
func Install(cache, architecture string) (string, error) {
	name, known := names[architecture]
	if !known {
		return "", fault.New("use an engine on amd64 or arm64", "there is no bridge for containers on the architecture %q", architecture)
	}
	b, err := find(built, name)
	if err != nil {
		return "", err
	}
	return install(cache, b.digest, b.unpack)
}

func install(cache string, digest [sha256.Size]byte, content func() ([]byte, error)) (string, error) {
	path := filepath.Join(cache, "bridge-"+hex.EncodeToString(digest[:8]))
	now := time.Now()
	err := os.MkdirAll(cache, 0o700)
	if err == nil && !isThere(path, digest) {
		var data []byte
		if data, err = content(); err == nil {
			err = write(path, data)
		}
	}
	if err != nil {
		return "", fault.Wrap("write the bridge for containers", err, "remove "+path+" if it is there, or set IRONCURTAIN_CACHE to a directory of your own")
	}
	_ = os.Chtimes(path, now, now) // in a read-only cache nothing is removed either
	removeUnused(cache, now.Add(-unused))
	return path, nil
}

// unused is for how long a bridge is kept after its last use. Containers that have mounted it can
// use it even after it is removed.
const unused = 24 * time.Hour

// written matches the name of a bridge, or of one whose writing was interrupted.
var written = regexp.MustCompile(`^\.?bridge-[0-9a-f]{16}[0-9]*$`)

// removeUnused removes the bridges that were last asked for before then. It ignores errors.
func removeUnused(cache string, then time.Time) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && written.MatchString(e.Name()) && info.Mode().IsRegular() && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(cache, e.Name()))
		}
	}
}

// write replaces the file atomically, whatever was there.
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

// isThere reports whether the file is a regular one with this digest and mode 0555.
func isThere(path string, digest [sha256.Size]byte) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.FileMode(0o555) {
		return false
	}
	present, err := os.ReadFile(path)
	return err == nil && sha256.Sum256(present) == digest
}
