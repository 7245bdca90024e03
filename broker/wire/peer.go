package wire

import (
	"fmt"
	"net"
	"os"
)

// CheckPeer returns an error unless the kernel says that the process at the other end of a
// connection is of this process's user.
func CheckPeer(conn net.Conn) error {
	p, err := peerOf(conn)
	if err != nil {
		return fmt.Errorf("ask who is at the other end: %w", err)
	}
	return p.checkUser(os.Geteuid())
}

// PeerProcess returns the id of the process at the other end of a connection.
func PeerProcess(conn *net.UnixConn) (int, error) {
	p, err := peerOf(conn)
	if err != nil {
		return 0, fmt.Errorf("ask who is at the other end: %w", err)
	}
	return p.process, nil
}

// peer is the process at the other end of a connection, when the connection was made.
type peer struct{ user, process int }

// checkUser returns an error unless the process is of a user. Root is no exception.
func (p peer) checkUser(user int) error {
	if p.user != user {
		return fmt.Errorf("the process at the other end is of another user: %d", p.user)
	}
	return nil
}

func peerOf(conn net.Conn) (p peer, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return p, err
	}
	var asked error
	err = raw.Control(func(fd uintptr) { p, asked = peerBehind(int(fd)) })
	if err == nil {
		err = asked
	}
	return p, err
}
