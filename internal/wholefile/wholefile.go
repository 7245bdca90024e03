// Package wholefile replaces files whole: whoever reads one finds what it was before or
// what it is now, also after a crash.
package wholefile

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the file at path, or makes it. What is not complete yet stands beside
// it, and never in the system's directory for temporary files, which others can read.
func Write(path string, data []byte, perm fs.FileMode, options ...renameio.Option) error {
	return renameio.WriteFile(path, data, perm, append(options, renameio.WithTempDir(filepath.Dir(path)))...)
}
