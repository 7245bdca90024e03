package broker

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// running is the file that this process was started from, also when it was
// replaced or removed since.
const running = "/proc/self/exe"

// self is a file with this very program that a container's user can run: the
// bridge in the container and the host speak the same version, whatever was
// installed meanwhile.
func (l layout) self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	mine, err := os.Stat(running)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) && mine.Mode().Perm()&0o555 == 0o555 {
		return path, nil
	}
	if err := copyProgram(l.program()); err != nil {
		return "", fmt.Errorf("copy this program for the container: %w", err)
	}
	return l.program(), nil
}

func copyProgram(to string) error {
	from, err := os.Open(running)
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := renameio.NewPendingFile(to, renameio.WithPermissions(fs.FileMode(0o555)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
