package gitrun

import (
	"fmt"
	"syscall"
)

// limited returns a shell script that sets its own limits and then becomes git, so that the limits
// apply from git's first instruction. The script fails if a limit cannot be set.
func limited(memory, address, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -d %d && ulimit -v %d && ulimit -t %d && exec git \"$@\"", memory>>10, address>>10, seconds)
}

// limitedGroup returns a shell script that sets its own limits and runs git, which may start other
// programs. The signal that ends the script ends all of them.
func limitedGroup(memory, file, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -d %d && ulimit -f %d && ulimit -t %d && %s", memory>>10, file>>9, seconds, asGroup)
}

// attributes give git a session, and so a process group, of its own, without a terminal. Git ends with
// the thread that started it, by the signal on which it removes its locks.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
