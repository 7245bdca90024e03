package dirtree

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrLink means that a path is a link, or leads through one.
var ErrLink = errors.New("the path leads through a link")

// OpenRoot opens the directory at an absolute path. The error is ErrLink if the directory or one
// above it is a link, even if only for a moment.
func OpenRoot(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	is, err := identify(dir)
	var opened fs.FileInfo
	if err == nil {
		opened, err = root.Stat(".")
	}
	if err == nil {
		got, ok := opened.Sys().(*syscall.Stat_t)
		if !ok || got.Ino != is.Ino || uint64(got.Dev) != uint64(is.Dev) { //nolint:unconvert // its type differs between systems
			err = ErrLink
		}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// identify returns the status of the file or directory at an absolute path. It opens each directory on
// the way from the one before, so that it follows no link.
func identify(path string) (is unix.Stat_t, err error) {
	at, err := unix.Open("/", passing|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return is, err
	}
	defer func() { _ = unix.Close(at) }()
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if part == "" {
			continue // the root itself
		}
		next, err := unix.Openat(at, part, passing|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ELOOP) {
			err = ErrLink
		}
		if err != nil {
			return is, err
		}
		_ = unix.Close(at)
		if at = next; unix.Fstat(at, &is) == nil && is.Mode&unix.S_IFMT == unix.S_IFLNK {
			return is, ErrLink
		}
	}
	return is, unix.Fstat(at, &is)
}
