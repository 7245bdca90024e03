package gitx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// readFile reads a regular file of at most limit bytes. It does not wait on
// pipes or devices that somebody has put in the file's place. A missing file
// is nil without an error.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse("a file of the git repository cannot be read")
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Reason: "a file of the git repository is not a regular file", fatal: true}
	}
	if err != nil || info.Size() > limit {
		return nil, refuse("a file of the git repository is larger than any honest one")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil, refuse("a file of the git repository cannot be read")
	}
	return data, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
