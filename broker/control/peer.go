package control

import (
	"log/slog"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUserListener passes on only connections of the user who runs us.
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

// peerUser asks the kernel who is at the other end.
func peerUser(conn net.Conn) (int, error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	var credErr error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if credErr == nil {
			uid = int(cred.Uid)
		}
	})
	if err == nil {
		err = credErr
	}
	return uid, err
}
