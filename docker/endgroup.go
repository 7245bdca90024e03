package docker

import (
	"os/exec"
	"syscall"
	"time"
)

// endGroup makes the end of the command's context end the program and all its
// children: politely first, so that they clean up after themselves.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
}
