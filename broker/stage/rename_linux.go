package stage

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames a file or directory to a path that must not exist.
func renameNew(from *os.Root, name string, to *os.Root, as string) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	defer source.Close()
	dir, err := to.Open(path.Dir(as))
	if err != nil {
		return err
	}
	defer dir.Close()
	last := path.Base(as)
	err = unix.Renameat2(int(source.Fd()), name, int(dir.Fd()), last, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system cannot do it in one step.
	if _, err := to.Lstat(as); err == nil {
		return unix.EEXIST
	}
	return unix.Renameat(int(source.Fd()), name, int(dir.Fd()), last)
}
