package pty

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readNow reads from a descriptor that does not block.
func readNow(fd int, b []byte) (int, error) { return transfer(unix.SYS_READ, fd, b) }

// writeNow writes to a descriptor that does not block.
func writeNow(fd int, b []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, b) }

// transfer makes a raw system call. For any other call the runtime would wake a thread, although
// this one does not block; nonblockingWriter in tui/outer has the measurements.
func transfer(call uintptr, fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) //nolint:gosec // the slice outlives the call
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
			continue
		}
		return 0, errno
	}
}
