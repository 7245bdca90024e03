package gitrun

import (
	"fmt"
	"syscall"
)

// limited is a shell script that limits itself and becomes git: before git's first
// instruction, and refused where it cannot be had.
func limited(memory, address, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -d %d && ulimit -v %d && ulimit -t %d && exec git \"$@\"", memory>>10, address>>10, seconds)
}

// attributes give git a process group of its own and end it with the thread that starts
// it, on the signal at which it removes its locks.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
