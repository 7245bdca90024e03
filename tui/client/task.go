package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Carry lets the daemon carry out a task on the standard streams of this process, which may be any
// files. It returns how the task has ended. The end of ctx interrupts the task, unless SIGHUP has
// ended ctx: then the task continues, as it does when this process dies.
func Carry(ctx context.Context, o Options, task wire.Task, in, out, errs *os.File) (wire.End, error) {
	restore := outer.SaveLines(in, errs)
	c, err := dial(context.WithoutCancel(ctx), o)
	if err != nil {
		return wire.End{}, err
	}
	defer c.conn.Close()
	task.Terminal = terminalVariables()
	if err := c.conn.Send(wire.KindTask, task, in, out, errs); err != nil {
		return wire.End{}, fmt.Errorf("pass the standard streams to the daemon: %w", err)
	}
	telling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.tellSignals(telling)
	}()
	defer func() { cancel(); <-told }()
	defer context.AfterFunc(ctx, func() {
		if hungUp(ctx) {
			_ = c.conn.Close()
		} else {
			_ = c.conn.Send(wire.KindInterrupt, nil) // awaitEnd returns an error of the connection
		}
	})()
	end, err := c.awaitEnd()
	if hungUp(ctx) {
		return end, errors.New("the terminal was closed; the task continues")
	}
	if err != nil {
		err = errors.Join(fault.New("run it again; 'ironcurtain-mux sessions ls' lists its session", "%w", err), restore())
	}
	return end, err
}

// hungUp reports whether ctx has ended because the terminal was closed.
func hungUp(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx).Error() == syscall.SIGHUP.String()+" signal received" // as signal.NotifyContext words it
}

// awaitEnd waits for the end of a task. When the person suspends the task's client (Ctrl-Z), this
// process stops meanwhile.
func (c *client) awaitEnd() (end wire.End, err error) {
	for {
		f, err := c.conn.Receive()
		if err != nil {
			return end, lostBy(err)
		}
		switch f.Kind {
		case wire.KindReleased:
			if hasShell() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail for our own process
			} else if err := c.conn.Send(wire.KindContinued, nil); err != nil {
				return end, err
			}
		case wire.KindRefused:
			var r wire.Refused
			if err := f.Into(&r); err != nil {
				return end, err
			}
			return wire.End{Reason: r.Reason, Next: r.Next, Failed: true}, nil
		case wire.KindEnd:
			err := f.Into(&end)
			return end, err
		}
	}
}

// hasShell reports whether this process is a job of a shell, which can continue it.
func hasShell() bool {
	session, err := unix.Getsid(0)
	return err == nil && session != unix.Getpgrp()
}
