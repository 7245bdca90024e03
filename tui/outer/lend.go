package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killAfter is how long a program may take to end after SIGHUP.
	killAfter = time.Second
	// loanEnd is how long Restore waits for a loan to end.
	loanEnd = 3 * time.Second
)

// Run lends the terminal, in the state in which Open found it, to another program, and
// takes it back when the program has ended. The program is the terminal's foreground
// job, so only the program gets signals of keys. If it stops itself, Run continues it,
// because there is no shell to return to. Meanwhile Listen does not read, and Write
// returns ErrLent. When ctx ends, Run ends the program. Afterwards the screen is empty
// and must be painted again. The error is that of the program, or why it could not be
// run.
func (t *Terminal) Run(ctx context.Context, argv []string) error {
	return t.Release(ctx, func() error {
		if t.passed != nil {
			return t.passed.Run(ctx, argv)
		}
		return RunForeground(ctx, t.in, t.out, argv)
	})
}

// giveAway resets the modes and the line discipline for another program.
func (t *Terminal) giveAway() error {
	t.write.Lock()
	defer t.write.Unlock()
	text := leave
	if len(t.rest) > 0 {
		text, t.rest = cancel+leave, nil
	}
	if _, err := t.out.WriteString(text); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	if err := setTermios(t.fdIn, t.saved); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	return nil
}

// takeBack writes the text before and sets the modes again, with the changes that SetMouse
// and SetKeyboard made meanwhile. It does nothing after Restore, and while the client's
// shell has the terminal.
func (t *Terminal) takeBack(before string) error {
	t.modes.Lock()
	defer t.modes.Unlock()
	t.write.Lock()
	defer t.write.Unlock()
	if t.away.Load() {
		return nil
	}
	t.lent, t.rest = false, nil
	if t.restored.Load() {
		return nil
	}
	if err := setTermios(t.fdIn, raw(*t.saved)); err != nil {
		return fmt.Errorf("take back the terminal: %w", err)
	}
	t.flow.begin(time.Now())
	if _, err := t.out.WriteString(before + enter(t.mouse, t.keyboard)); err != nil {
		return fmt.Errorf("take back the terminal: %w", err)
	}
	note(t.resized) // SIGWINCH goes only to the foreground job
	return nil
}

// RunForeground runs a program as the foreground job of a terminal, if this process is the
// foreground job now. If the program stops itself, RunForeground continues it. When ctx ends,
// RunForeground ends the program.
func RunForeground(ctx context.Context, in, out *os.File, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // waitJob ends the whole process group
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	own, fd := unix.Getpgrp(), int(in.Fd())
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && front == own {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, fd
		defer comeForward(fd, own)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	status, err := waitJob(ctx, cmd.Process.Pid)
	_ = cmd.Process.Release()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("wait for %s: %w", argv[0], err)
	case status.Signaled():
		return fmt.Errorf("%s was ended by %v", argv[0], status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("%s ended with exit code %d", argv[0], status.ExitStatus())
	}
	return nil
}

// comeForward makes this process's group the terminal's foreground job again. It
// ignores SIGTTOU meanwhile, because that signal would stop a background job that
// tries this.
func comeForward(tty, group int) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, group)
}

// waitJob waits for the leader of a process group. When ctx ends, it ends the group.
func waitJob(ctx context.Context, pid int) (unix.WaitStatus, error) {
	ended := make(chan struct{})
	defer close(ended)
	stop := context.AfterFunc(ctx, func() {
		_ = unix.Kill(-pid, unix.SIGHUP)
		_ = unix.Kill(-pid, unix.SIGCONT)
		timer := time.NewTimer(killAfter)
		defer timer.Stop()
		select {
		case <-timer.C:
			_ = unix.Kill(-pid, unix.SIGKILL)
		case <-ended:
		}
	})
	defer stop()
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return status, err
		case status.Stopped():
			if err := unix.Kill(-pid, unix.SIGCONT); err != nil {
				return status, err
			}
		default:
			return status, nil
		}
	}
}
