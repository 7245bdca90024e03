package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// ReadFile reads a regular file of at most so many bytes. It never waits at a pipe or a device. open
// is os.OpenFile, or that method of an os.Root.
func ReadFile(open func(name string, flag int, perm fs.FileMode) (*os.File, error), name string, most int64) ([]byte, error) {
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("the file is larger than %s", text.Size(most))
	}
	return data, nil
}
