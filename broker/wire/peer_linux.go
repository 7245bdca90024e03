package wire

import "golang.org/x/sys/unix"

// peerBehind returns the process at the other end of a socket.
func peerBehind(fd int) (peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	return peer{user: int(cred.Uid), process: int(cred.Pid)}, nil
}
