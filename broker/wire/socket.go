package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// ListenPrivate listens on a Unix socket that only its owner can reach.
func ListenPrivate(path string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{Control: narrow}).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// narrow sets the mode of a socket before the socket has a path. Linux uses that mode for the path,
// so that others can never connect. Other systems fail; there ListenPrivate sets the mode right
// after the path exists.
func narrow(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
