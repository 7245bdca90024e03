//go:build !linux

package gitrun

import (
	"fmt"
	"syscall"
)

// limited returns a shell script that sets its own limits and then becomes git. These systems cannot
// limit a process's memory. When this process is killed, only the time limit ends git.
func limited(_, _, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -t %d && exec git \"$@\"", seconds)
}

// limitedGroup returns a shell script that sets its own limits and runs git, which may start other
// programs. The signal that ends the script ends all of them.
func limitedGroup(_, file, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -f %d && ulimit -t %d && %s", file>>9, seconds, asGroup)
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
