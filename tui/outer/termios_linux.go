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

// noCharacter, in the place of a control character, means that no key sends its signal.
const noCharacter = 0

// dropInput discards input that was not read.
func dropInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

// dropOutput discards output that the terminal has not taken.
func dropOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH) }

// startOutput continues output that was stopped, for example with Ctrl-S, and wakes waiting writes.
// It stops the output first, because only the change from stopped to started wakes them.
func startOutput(fd int) error {
	return errors.Join(unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF), unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON))
}
