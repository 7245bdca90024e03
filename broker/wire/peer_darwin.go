package wire

import "golang.org/x/sys/unix"

// peerBehind returns the process at the other end of a socket.
func peerBehind(fd int) (peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return peer{user: int(cred.Uid), process: pid}, err
}
