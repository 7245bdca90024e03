package outer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// The requests to read the settings and to set them at once.
const (
	ioctlGet = unix.TCGETS
	ioctlSet = unix.TCSETS
)

// noCharacter in place of a character that sends a signal turns that off.
const noCharacter = 0

// dropInput discards input that was not read.
func dropInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

// dropOutput discards output that the terminal has not taken.
func dropOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH) }

// startOutput lets a terminal go on whose output somebody has stopped, and wakes who waits to
// write to it. Only the change from stopped to started does that.
func startOutput(fd int) error {
	return errors.Join(unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF), unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON))
}
