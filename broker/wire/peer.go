package wire

import (
	"fmt"
	"net"
	"os"
)

// CheckPeer returns an error unless the kernel says that the process at the other end of a
// connection belongs to this process's user.
func CheckPeer(conn net.Conn) error {
	p, err := peerOf(conn)
	if err != nil {
		return fmt.Errorf("find the process at the other end: %w", err)
	}
	return p.checkUser(os.Geteuid())
}

// PeerProcess returns the id of the process at the other end of a connection.
func PeerProcess(conn *net.UnixConn) (int, error) {
	p, err := peerOf(conn)
	if err != nil {
		return 0, fmt.Errorf("find the process at the other end: %w", err)
	}
	return p.process, nil
}

// peer is the process that was at the other end of a connection when that was made.
type peer struct{ user, process int }

// checkUser returns an error unless the process belongs to a user. Root is no exception.
func (p peer) checkUser(user int) error {
	if p.user != user {
		return fmt.Errorf("the process at the other end belongs to another user: %d", p.user)
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
