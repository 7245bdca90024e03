package outer

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nonblockingWriter writes what a terminal takes without waiting. The terminal is opened
// once more for that: whether a descriptor waits is known to all who share it, the
// person's shell among them. The runtime is not told of such a call, as it need not
// watch over one that does not block; telling it wakes the thread that watches, and
// every echo would pay for that.
type nonblockingWriter struct {
	fd int // -1 where the terminal cannot be opened again
}

// newNonblockingWriter opens the terminal of a descriptor.
func newNonblockingWriter(fd int) *nonblockingWriter {
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		again = -1 // it may be another user's; everything is written the other way
	}
	return &nonblockingWriter{again}
}

// mostAtOnce is how much is written this way, in bytes: frames that somebody who
// types waits for.
const mostAtOnce = 4 << 10

// write returns how many bytes were taken, which may be none.
func (a *nonblockingWriter) write(b []byte) int {
	if a.fd < 0 || len(b) == 0 || len(b) > mostAtOnce {
		return 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(a.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) //nolint:gosec // the slice outlives the call
	if errno != 0 {
		return 0 // the other way says why, or waits
	}
	return int(n)
}

// close is called when nothing is written any more.
func (a *nonblockingWriter) close() error {
	if a.fd < 0 {
		return nil
	}
	return unix.Close(a.fd)
}
