// Package wholefile replaces files atomically: a reader finds the old or the new contents,
// even after a crash.
package wholefile

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces or creates the file at path. It first writes the new contents to a temporary file
// in the same directory, and not in the system's temporary directory, which others can read.
func Write(path string, data []byte, perm fs.FileMode, options ...renameio.Option) error {
	return renameio.WriteFile(path, data, perm, append(options, renameio.WithTempDir(filepath.Dir(path)))...)
}
