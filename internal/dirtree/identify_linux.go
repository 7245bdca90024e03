package dirtree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// passing are the flags for opening a directory on the way to a file. The directory need not be
// readable.
const passing = unix.O_PATH

// Identify returns the device and inode of the file or directory at an absolute path. It follows no
// links.
func Identify(path string) (device, inode uint64, err error) {
	is, err := identify(path)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	return uint64(is.Dev), is.Ino, nil //nolint:unconvert // its type differs between architectures
}
