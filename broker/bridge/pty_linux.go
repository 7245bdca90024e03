package bridge

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openTerminal opens a new terminal. Its tty is blocking, as programs expect.
func openTerminal() (master, tty *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("/dev/ptmx: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("/dev/ptmx: %w", err), master.Close())
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	fd, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), master.Close())
	}
	return master, os.NewFile(uintptr(fd), name), nil
}

// Hide keeps other processes of the same user, such as the agent, from reading this process's
// environment, memory and descriptors.
func Hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
