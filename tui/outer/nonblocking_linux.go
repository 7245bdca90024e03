package outer

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nonblockingWriter writes what a terminal takes without blocking. It opens the terminal
// once more, because the nonblocking mode of a descriptor applies to all processes that
// share it, such as the person's shell. It uses raw system calls that the Go runtime does
// not track: the runtime would wake a thread to watch the call, which would delay every
// echo and is not needed for a call that does not block. Measured from key to echo in a
// local shell, with all raw calls of this package and of term/pty and without them, in
// interleaved runs beside tmux: the median is 1.0 times tmux's with them and 1.2 times
// without.
type nonblockingWriter struct {
	fd int // -1 if the terminal could not be opened again
}

// openAgain opens the terminal of a descriptor without blocking reads and writes.
func openAgain(fd, mode int) (int, error) {
	return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), mode|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// newNonblockingWriter opens the terminal of a descriptor.
func newNonblockingWriter(fd int) *nonblockingWriter {
	again, err := openAgain(fd, unix.O_WRONLY)
	if err != nil {
		again = -1 // the terminal may be another user's; Terminal.Write then writes everything to out
	}
	return &nonblockingWriter{again}
}

// mostAtOnce is the size in bytes of the largest frame that is written this way. Frames
// that show typed keys are smaller.
const mostAtOnce = 4 << 10

// write returns how many bytes the terminal took, which may be none.
func (a *nonblockingWriter) write(b []byte) int {
	if a.fd < 0 || len(b) == 0 || len(b) > mostAtOnce {
		return 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(a.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) //nolint:gosec // the slice outlives the call
	if errno != 0 {
		return 0 // the caller's blocking write returns the error, or waits
	}
	return int(n)
}

// close closes the descriptor. No write may follow.
func (a *nonblockingWriter) close() error {
	if a.fd < 0 {
		return nil
	}
	return unix.Close(a.fd)
}
