package gitx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// readFile reads a regular file of at most limit bytes. It never blocks on a pipe or a
// device in place of the file. For a missing file it returns nil and no error.
func readFile(name string, limit int64) ([]byte, error) {
	f, _, err := openFile(name, limit)
	if f == nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil, refuse("a file of the git repository cannot be read")
	}
	return data, nil
}

// openFile opens a regular file of at most limit bytes and returns its size. For a missing
// file it returns nil and no error.
func openFile(name string, limit int64) (*os.File, int64, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, refuse("a file of the git repository cannot be read")
	}
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = &Error{Reason: "a file of the git repository is not a regular file", fatal: true}
	case err != nil || info.Size() > limit:
		err = errTooLarge
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

var errTooLarge = refuse("a file of the git repository is too large to be genuine")

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
