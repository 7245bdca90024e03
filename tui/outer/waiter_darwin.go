package outer

import (
	"time"

	"golang.org/x/sys/unix"
)

// waiter waits until at least one of some descriptors is readable.
type waiter struct{}

func newWaiter(...int) (*waiter, error) { return &waiter{}, nil }

// wait polls the descriptors: it returns how many are ready, or 0 after d. A negative d
// means for ever.
func (w *waiter) wait(fds []unix.PollFd, d time.Duration) (n int, err error) {
	timeout := -1
	if d >= 0 {
		timeout = int((d + time.Millisecond - 1) / time.Millisecond)
	}
	for {
		if n, err = unix.Poll(fds, timeout); err != unix.EINTR {
			return n, err
		}
	}
}

func (w *waiter) close() error { return nil }

// ready is poll without waiting.
func ready(fds []unix.PollFd) int {
	n, err := unix.Poll(fds, 0)
	if err != nil {
		return 0
	}
	return n
}

// readReady reads a descriptor that ready has just reported as readable.
func readReady(fd int, b []byte) (int, error) { return unix.Read(fd, b) }
