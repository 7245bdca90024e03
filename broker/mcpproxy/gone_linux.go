package mcpproxy

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone reports whether the peer of a connection can neither send nor receive any more. A
// peer that has only closed its sending side can still receive.
func gone(conn io.ReadWriteCloser) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	hungUp := false
	err = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		hungUp = err == nil && n > 0 && fds[0].Revents&unix.POLLHUP != 0
	})
	return err == nil && hungUp
}
