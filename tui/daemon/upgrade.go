package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Upgrade says how the daemon becomes the program that is now at its path. The process, the socket,
// the agents and their screens stay.
type Upgrade struct {
	Door    *Door  // inherited by the program
	Program string // the program's path
	// Argv returns the command line of the program, with the inherited descriptors.
	Argv func(Inherited) []string
	// Check returns why the program cannot continue the daemon; nil: it can.
	Check func(ctx context.Context) error
	// Calm waits until nothing is under way. It fails if something still is after the time wait,
	// unless now is set. Nothing new starts from then on until end is called.
	Calm func(ctx context.Context, wait time.Duration, now bool) (end func(), err error)
	// Save writes the state that the program needs, and returns the connections that stay open.
	// undo continues with that state in this program.
	Save func(ctx context.Context, to *os.File) (files []syscall.RawConn, undo func(from *os.File) error, err error)
}

// saveLimit bounds how long the views may take to end, and Save to write.
const saveLimit = 10 * time.Second

// upgrade replaces the daemon by the new program because a client has asked for it. It returns only
// if that fails.
func (d *Daemon) upgrade(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame) {
	var u wire.Upgrade
	if f.Into(&u) != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = c.Receive() // the client sends nothing more; this returns when it gives up
		cancel()
	}()
	defer func() { _ = unix.CloseRead(); <-heard }()
	err := errors.New("this daemon cannot be upgraded")
	if d.Upgrade != nil {
		err = d.becomeNew(ctx, u, func() { _ = c.Send(wire.KindMoved, wire.Moved{}) })
	}
	d.Log.Warn("the daemon was not upgraded", "error", err)
	_ = c.Send(wire.KindRefused, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)}) // the client may be gone
}

// becomeNew becomes the new program, or returns why it cannot and continues as before. It calls tell
// right before the new program starts.
func (d *Daemon) becomeNew(ctx context.Context, u wire.Upgrade, tell func()) error {
	if err := d.Upgrade.Check(ctx); err != nil {
		return err
	}
	calm, err := d.Upgrade.Calm(ctx, u.Wait, u.Now)
	if err != nil {
		return err
	}
	defer calm()
	ctx = context.WithoutCancel(ctx) // from here on, the client cannot give up
	resume := d.pauseAccepting()
	defer resume()
	if err := d.moveViews(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	memory, err := newMemory()
	if err != nil {
		return fmt.Errorf("make a file in memory: %w", err)
	}
	defer memory.Close()
	files, undo, err := d.Upgrade.Save(ctx, memory)
	if err == nil {
		if err = seal(memory); err == nil {
			tell()
			err = d.exec(memory, files)
		}
		err = fault.Wrap("become "+d.Upgrade.Program, err, "the daemon continues as before")
	}
	if undo != nil {
		if _, unread := memory.Seek(0, io.SeekStart); unread != nil {
			return errors.Join(err, unread)
		}
		err = errors.Join(err, undo(memory))
	}
	return err
}

// exec becomes the new program. It returns only if that fails.
func (d *Daemon) exec(memory *os.File, files []syscall.RawConn) error {
	var own []syscall.RawConn
	for _, f := range []syscall.Conn{d.Upgrade.Door.UnixListener, d.Upgrade.Door.lock, memory} {
		conn, err := f.SyscallConn()
		if err != nil {
			return err
		}
		own = append(own, conn)
	}
	return become(d.Upgrade.Program, func(fds []int) []string {
		return d.Upgrade.Argv(Inherited{fds[0], fds[1], fds[2]})
	}, append(own, files...))
}

// upgrading says whether the daemon is being upgraded.
type upgrading struct {
	over chan struct{} // closed when the upgrade is over; nil: none is under way; guarded by Daemon.mu
}

// pauseAccepting lets clients that connect wait until resume is called.
func (d *Daemon) pauseAccepting() (resume func()) {
	d.mu.Lock()
	d.upgrading.over = make(chan struct{})
	d.mu.Unlock()
	_ = d.Upgrade.Door.SetDeadline(time.Unix(1, 0))
	return func() {
		_ = d.Upgrade.Door.SetDeadline(time.Time{})
		d.mu.Lock()
		defer d.mu.Unlock()
		close(d.upgrading.over)
		d.upgrading.over = nil
	}
}

// awaitUpgrade waits until an upgrade has failed or ctx ends. It reports false at once if no upgrade
// is under way.
func (d *Daemon) awaitUpgrade(ctx context.Context) bool {
	d.mu.Lock()
	over := d.upgrading.over
	d.mu.Unlock()
	if over == nil {
		return false
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
	return true
}

// moveViews ends all views, and tells their clients to connect again.
func (d *Daemon) moveViews(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		d.mu.Lock()
		for _, v := range d.views {
			v.moved.Store(true)
			v.cancel()
		}
		left := len(d.views)
		d.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fault.New("try again", "upgrade: a view has not ended within %v", saveLimit)
		}
	}
}

// add adds a view, unless the daemon is being upgraded.
func (d *Daemon) add(v *view) (added bool) {
	d.change(func() {
		if added = d.upgrading.over == nil; added {
			d.views = append(d.views, v)
		}
	})
	return added
}
