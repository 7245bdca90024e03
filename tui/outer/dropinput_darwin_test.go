package outer

import "golang.org/x/sys/unix"

// stopOutput stops the output of a terminal, as Ctrl-S does.
func stopOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCSTOP, 0) }
