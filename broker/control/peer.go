package control

import (
	"log/slog"
	"net"
	"os"
)

// sameUserListener accepts only connections of the user of this process.
type sameUserListener struct {
	net.Listener
	log *slog.Logger
}

func (l *sameUserListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerUser(conn)
		if err == nil && uid == os.Geteuid() {
			return conn, nil
		}
		l.log.Warn("control socket refused a connection", "uid", uid, "error", err)
		_ = conn.Close()
	}
}

// peerUser asks the kernel for the user at the other end.
func peerUser(conn net.Conn) (int, error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	var credErr error
	err = raw.Control(func(fd uintptr) {
		uid, credErr = userBehind(int(fd))
	})
	if err == nil {
		err = credErr
	}
	return uid, err
}
