// Package wholefile replaces files as a whole: a reader finds the old or the new contents,
// even after a crash.
package wholefile

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces or creates the file at path. It writes the new contents to a file beside
// it first, never to the system's directory for temporary files, which others can read.
func Write(path string, data []byte, perm fs.FileMode, options ...renameio.Option) error {
	return renameio.WriteFile(path, data, perm, append(options, renameio.WithTempDir(filepath.Dir(path)))...)
}
