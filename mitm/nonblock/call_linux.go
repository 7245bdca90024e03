//go:build !race

package nonblock

import (
	"syscall"
	"unsafe"
)

// readNow reads from a descriptor that does not wait. The runtime is not told of
// the call.
func readNow(fd uintptr, b []byte) (int, error) { return callNow(syscall.SYS_READ, fd, b) }

// writeNow writes to a descriptor that does not wait. The runtime is not told of
// the call.
func writeNow(fd uintptr, b []byte) (int, error) { return callNow(syscall.SYS_WRITE, fd, b) }

func callNow(call, fd uintptr, b []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) //nolint:gosec // the slice outlives the call
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
