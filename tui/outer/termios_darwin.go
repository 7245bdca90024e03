package outer

import "golang.org/x/sys/unix"

// The requests to read the settings and to set them at once.
const (
	ioctlGet = unix.TIOCGETA
	ioctlSet = unix.TIOCSETA
)

// FREAD and FWRITE of <sys/fcntl.h>.
const (
	flushRead  = 1
	flushWrite = 2
)

// noCharacter, in the place of a control character, means that no key sends its signal.
const noCharacter = 0xff

// dropInput discards input that was not read.
func dropInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, flushRead) }

// dropOutput discards output that the terminal has not taken.
func dropOutput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, flushWrite) }

// startOutput continues output that was stopped, for example with Ctrl-S.
func startOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCSTART, 0) }
