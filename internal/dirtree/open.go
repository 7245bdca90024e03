package dirtree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens the regular file at a path below the directory base for reading. Neither base nor
// any part of the path may be a link. Open does not block on a pipe, and opens no device.
func Open(base, name string) (*os.File, error) {
	at, err := unix.Open(base, passing|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Short(base), err)
	}
	defer func() {
		if at >= 0 {
			_ = unix.Close(at)
		}
	}()
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for i, part := range parts {
		shown := Short(filepath.Join(base, filepath.Join(parts[:i+1]...)))
		if part == "" || part == "." || part == ".." {
			return nil, fmt.Errorf("%s: %q is not the name of a file", Short(name), part)
		}
		last := i == len(parts)-1
		if err := expect(at, part, shown, last); err != nil {
			return nil, err
		}
		flags := passing | unix.O_DIRECTORY
		if last {
			flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
		}
		next, err := unix.Openat(at, part, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", shown, err)
		}
		_ = unix.Close(at)
		at = next
	}
	// The file may have been replaced before it was opened.
	if err := expect(at, "", Short(name), true); err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(at), filepath.Join(base, name))
	at = -1
	return file, nil
}

// NotRegularError means that a path leads to something other than a regular file, or through
// a link.
type NotRegularError struct{ Path, Is string }

func (e *NotRegularError) Error() string { return e.Path + " is " + e.Is }

// expect returns an error unless an entry of a directory is a regular file or, on the way to
// one, a directory. An empty name means the open file itself.
func expect(dir int, name, shown string, regular bool) error {
	var is unix.Stat_t
	err := unix.Fstat(dir, &is)
	if name != "" {
		err = unix.Fstatat(dir, name, &is, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: shown, Err: err}
	}
	switch is.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		if !regular {
			return &NotRegularError{shown, "a file, not a directory"}
		}
		return nil
	case unix.S_IFDIR:
		if regular {
			return &NotRegularError{shown, "a directory"}
		}
		return nil
	case unix.S_IFLNK:
		return &NotRegularError{shown, "a link"}
	case unix.S_IFIFO:
		return &NotRegularError{shown, "a named pipe"}
	case unix.S_IFSOCK:
		return &NotRegularError{shown, "a socket"}
	}
	return &NotRegularError{shown, "a device"}
}
