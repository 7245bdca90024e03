package gitrun

import (
	"fmt"
	"syscall"
)

// limited is a shell script that sets its limits and then becomes git, so that the limits
// apply from git's first instruction. The script fails where a limit cannot be set.
func limited(memory, address, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -d %d && ulimit -v %d && ulimit -t %d && exec git \"$@\"", memory>>10, address>>10, seconds)
}

// attributes give git a process group of its own and end git with the thread that started
// it, by the signal on which git removes its locks.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
