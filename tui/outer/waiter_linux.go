package outer

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waiter waits until at least one of some descriptors is readable. Other processes share
// the descriptors, so they must stay in blocking mode and the Go runtime cannot poll
// them. Instead, the runtime polls an epoll descriptor that watches them. So no thread
// blocks; waking it would delay every key.
type waiter struct {
	epoll *os.File
	conn  syscall.RawConn // of epoll
}

func newWaiter(fds ...int) (*waiter, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	err = unix.SetNonblock(epoll, true)
	for _, fd := range fds {
		watch := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		err = errors.Join(err, unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &watch))
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(epoll))
	}
	w := &waiter{epoll: os.NewFile(uintptr(epoll), "epoll")}
	if w.conn, err = w.epoll.SyscallConn(); err != nil {
		return nil, errors.Join(err, w.epoll.Close())
	}
	return w, nil
}

// wait polls descriptors that newWaiter got: it returns how many are ready, or 0 after
// d. A negative d means for ever.
func (w *waiter) wait(fds []unix.PollFd, d time.Duration) (n int, err error) {
	var deadline time.Time
	if d >= 0 {
		deadline = time.Now().Add(d)
	}
	if err := w.epoll.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	err = w.conn.Read(func(uintptr) bool {
		n = ready(fds)
		return n > 0
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ready(fds), nil
	}
	return n, err
}

func (w *waiter) close() error { return w.epoll.Close() }

// ready is poll without waiting. It is a raw system call that the Go runtime does not
// track, because it does not block; see nonblockingWriter.
func ready(fds []unix.PollFd) int {
	var now unix.Timespec
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), //nolint:gosec // both outlive the call
		uintptr(unsafe.Pointer(&now)), 0, 0, 0) //nolint:gosec // as above
	if errno != 0 {
		return 0
	}
	return int(n)
}

// readReady reads a descriptor that ready has just reported as readable and that only
// this program reads. It does not block, so it is a raw system call as well; the runtime
// would wake a thread to watch another one.
func readReady(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) //nolint:gosec // the slice outlives the call
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
