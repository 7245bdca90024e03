package outer

import "golang.org/x/sys/unix"

// getTermios reads the line discipline's settings; an error means that fd is no
// terminal.
func getTermios(fd int) (*unix.Termios, error) {
	return unix.IoctlGetTermios(fd, ioctlGet)
}

// setTermios sets them at once: to wait for output could be to wait for ever. A
// signal that arrives meanwhile is no reason to fail.
func setTermios(fd int, t *unix.Termios) error {
	for {
		if err := unix.IoctlSetTermios(fd, ioctlSet, t); err != unix.EINTR {
			return err
		}
	}
}

// raw is t with every byte passed on as it comes, in and out, and no key that
// makes a signal.
func raw(t unix.Termios) *unix.Termios {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &t
}
