package dirtree

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// passing opens a directory on the way to a file. It need not be readable.
const passing = unix.O_PATH

// Identify identifies the file or directory at an absolute path, and follows no link on
// the way.
func Identify(path string) (device, inode uint64, err error) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("open /: %w", err)
	}
	defer func() { _ = unix.Close(at) }()
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		next, err := unix.Openat(at, part, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", path, err)
		}
		_ = unix.Close(at)
		at = next
	}
	var is unix.Stat_t
	if err := unix.Fstat(at, &is); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	if is.Mode&unix.S_IFMT == unix.S_IFLNK {
		return 0, 0, fmt.Errorf("%s is a link", path)
	}
	return uint64(is.Dev), is.Ino, nil //nolint:unconvert // its type differs between architectures
}
