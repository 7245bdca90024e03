package preview

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxFile is the largest file that is compared, in bytes.
const maxFile = 4 << 20

// errTooLarge means that a file is too large to be compared.
var errTooLarge = fmt.Errorf("the file is larger than %d MiB", maxFile>>20)

// errNoFile means that the path does not name a regular file.
var errNoFile = errors.New("it is not a regular file")

// readFile reads a regular file by its canonical path. No component may be a link, so that it reads only
// the judged file. It never blocks on a pipe or device.
func readFile(path string) ([]byte, error) {
	fd, err := openNoLinks(path)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("there is a directory of that name: %w", errNoFile)
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > maxFile:
		return nil, errTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errTooLarge
	}
	return data, err
}

// openNoLinks opens a file component by component and follows no links.
func openNoLinks(path string) (int, error) {
	if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) {
		return -1, errors.New("the path is not absolute")
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	dir, err := unix.Open("/", directoryFlags, 0)
	if err != nil {
		return -1, err
	}
	for i, part := range parts {
		if part == ".." || part == "." {
			_ = unix.Close(dir)
			return -1, errors.New("the path is not canonical")
		}
		flags := directoryFlags
		if i == len(parts)-1 {
			flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NOCTTY
		}
		next, err := unix.Openat(dir, part, flags, 0)
		_ = unix.Close(dir)
		if err != nil {
			return -1, describeOpen(err)
		}
		dir = next
	}
	return dir, nil
}

func describeOpen(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return fs.ErrNotExist
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK):
		return errors.New("a part of the path is a symbolic link")
	}
	return err
}
