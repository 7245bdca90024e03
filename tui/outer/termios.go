package outer

import "golang.org/x/sys/unix"

// getTermios reads the line discipline's settings. An error means that fd is not a
// terminal.
func getTermios(fd int) (*unix.Termios, error) {
	return unix.IoctlGetTermios(fd, ioctlGet)
}

// setTermios changes the settings at once, because waiting for the output could take for
// ever. It retries after a signal.
func setTermios(fd int, t *unix.Termios) error {
	for {
		if err := unix.IoctlSetTermios(fd, ioctlSet, t); err != unix.EINTR {
			return err
		}
	}
}

// raw returns t changed to raw mode: all bytes pass unchanged in both directions, and no
// key sends a signal.
func raw(t unix.Termios) *unix.Termios {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &t
}
