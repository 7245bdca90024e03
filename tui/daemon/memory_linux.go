package daemon

import (
	"os"

	"golang.org/x/sys/unix"
)

// newMemory makes a file in memory, without a name.
func newMemory() (*os.File, error) {
	fd, err := unix.MemfdCreate("ironcurtain-mux", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "memory"), nil
}

const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// seal forbids every further change of the file.
func seal(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return err
}

// sealed reports whether seal was called for the file.
func sealed(f *os.File) bool {
	has, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	return err == nil && has == seals
}
