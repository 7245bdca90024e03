package wire

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// readMessage reads data and attached files from a socket. macOS cannot receive files with
// close-on-exec set, so readMessage prevents programs from being started until it has set that.
func readMessage(c *net.UnixConn, data, control []byte) (n, size, flags int, err error) {
	conn, err := c.SyscallConn()
	if err != nil {
		return 0, 0, 0, err
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		n, size, flags, _, failed = unix.Recvmsg(int(fd), data, control, 0)
		if failed != nil {
			return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
		}
		files, _ := filesIn(control[:size]) // receiveFirst returns the error
		for _, file := range files {
			unix.CloseOnExec(file)
		}
		return true
	})
	return max(n, 0), size, flags, errors.Join(err, failed)
}
