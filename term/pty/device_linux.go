package pty

import (
	"os"

	"golang.org/x/sys/unix"
)

// deviceOf returns the number of a terminal's device, even if it was opened as /dev/tty.
func deviceOf(f *os.File) (device uint64, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		var number uint32
		number, failed = unix.IoctlGetUint32(int(fd), unix.TIOCGDEV)
		device = uint64(number)
	})
	if err != nil {
		return 0, err
	}
	return device, failed
}
