package control

import "golang.org/x/sys/unix"

// userBehind is the user of the process at the other end of a socket.
func userBehind(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
