//go:build !linux || race

package nonblock

import (
	"errors"
	"syscall"
)

// readNow reads from a descriptor that does not wait. The race detector learns the
// order of what happens at both ends of a socket from these calls.
func readNow(fd uintptr, b []byte) (int, error) {
	for {
		if n, err := syscall.Read(int(fd), b); !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}

// writeNow writes to a descriptor that does not wait.
func writeNow(fd uintptr, b []byte) (int, error) {
	for {
		if n, err := syscall.Write(int(fd), b); !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}
