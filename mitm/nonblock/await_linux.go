package nonblock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const awaits = true

// readable reports whether a read would return at once, the end included.
func readable(fd uintptr) bool {
	poll := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	var now unix.Timespec
	n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL,
		uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0) //nolint:gosec // both outlive the call
	return errno == 0 && n == 1
}

// letOthers has the system run what else waits for this processor.
func letOthers() { _, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
