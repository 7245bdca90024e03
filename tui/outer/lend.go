package outer

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killAfter is how long a program that is called back may take to end.
	killAfter = time.Second
	// loanEnd is how long Restore waits for a loan to end.
	loanEnd = 3 * time.Second
)

// Run gives the terminal, as Open found it, to another program and takes it back
// when that has ended. The program is the terminal's foreground job, so keys
// that make signals reach only it; when it stops itself, it goes on, because
// there is no shell to come back to. Meanwhile nothing of the terminal is read
// here, and Write returns ErrLent. When ctx ends the program is ended too.
// Afterwards nothing is left of what was painted before. The error is that of
// the program, or why it could not be run.
func (t *Terminal) Run(ctx context.Context, argv []string) error {
	t.loan.Lock()
	defer t.loan.Unlock()
	if t.restored.Load() {
		return ErrRestored
	}
	t.write.Lock()
	t.lent = true
	t.write.Unlock()
	t.flow.land() // what still comes now is no typing for the other program
	if p := t.reader.Load(); p != nil {
		release, err := p.hold(ctx)
		if err != nil {
			return errors.Join(err, t.takeBack(""))
		}
		defer release()
	}
	if err := t.giveAway(); err != nil {
		return errors.Join(err, t.takeBack(""))
	}
	err := t.runForeground(ctx, argv)
	return errors.Join(err, t.takeBack(""))
}

// giveAway undoes the modes.
func (t *Terminal) giveAway() error {
	t.write.Lock()
	defer t.write.Unlock()
	if _, err := t.out.WriteString(leave); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	if err := setTermios(t.fdIn, t.saved); err != nil {
		return fmt.Errorf("hand over the terminal: %w", err)
	}
	return nil
}

// takeBack sets the modes again, those included that changed meanwhile, after writing
// what has to come before. A terminal that has been restored for good is left alone.
func (t *Terminal) takeBack(before string) error {
	t.modes.Lock()
	defer t.modes.Unlock()
	t.write.Lock()
	defer t.write.Unlock()
	t.lent = false
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
	// Only the foreground job is told of another size: look now.
	return unix.Kill(unix.Getpid(), unix.SIGWINCH)
}

// runForeground runs a program as the terminal's foreground job.
func (t *Terminal) runForeground(ctx context.Context, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // its whole group is ended below
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.out, t.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	own := unix.Getpgrp()
	if front, err := unix.IoctlGetInt(t.fdIn, unix.TIOCGPGRP); err == nil && front == own {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, t.fdIn
		defer comeForward(t.fdIn, own)
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

// comeForward makes this process's group the terminal's foreground job again,
// which a background job may do only when it ignores the signal for trying.
func comeForward(tty, group int) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, group)
}

// waitJob waits for the leader of a process group, and ends the group with ctx.
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
