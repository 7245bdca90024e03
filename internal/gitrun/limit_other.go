//go:build !linux

package gitrun

import (
	"fmt"
	"syscall"
)

// limited is a shell script that limits itself and becomes git. These systems bound
// no process's memory; when this process is killed, the time is what ends git.
func limited(_, _, seconds int64) string {
	return fmt.Sprintf("ulimit -c 0 && ulimit -t %d && exec git \"$@\"", seconds)
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
