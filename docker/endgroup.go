package docker

import (
	"os/exec"
	"syscall"
	"time"
)

// endGroup makes the end of the command's context terminate the program and all its
// children. They get SIGTERM, so that they can clean up.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
}
