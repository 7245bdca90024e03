package dirtree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// passing opens a directory on the way to a file. It need not be readable.
const passing = unix.O_PATH

// Identify identifies the file or directory at an absolute path, and follows no link on
// the way.
func Identify(path string) (device, inode uint64, err error) {
	is, err := identify(path)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	return uint64(is.Dev), is.Ino, nil //nolint:unconvert // its type differs between architectures
}
