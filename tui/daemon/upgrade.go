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

// Upgrade is how the daemon becomes the program that is at its path now. The process stays, and
// so do the socket, the agents and their screens.
type Upgrade struct {
	Door    *Door  // through which the clients come, which it inherits
	Program string // its path
	// Argv is the command line of that program, for what it inherits.
	Argv func(Inherited) []string
	// Check says why the program cannot go on; nil: it can.
	Check func(ctx context.Context) error
	// Calm waits until nothing is under way, and fails if something is after that time, except
	// with now. Nothing begins from then on until end is called.
	Calm func(ctx context.Context, wait time.Duration, now bool) (end func(), err error)
	// Save writes what the program needs, and returns which connections are to stay open. undo
	// goes on in this one.
	Save func(ctx context.Context, to *os.File) (files []syscall.RawConn, undo func(from *os.File) error, err error)
}

// saveLimit is how long the views may take to end, and the panes to be saved.
const saveLimit = 10 * time.Second

// upgrade becomes another program for a client. It returns if that fails.
func (d *Daemon) upgrade(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame) {
	var u wire.Upgrade
	if f.Into(&u) != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = c.Receive() // the client says nothing more: it has given up
		cancel()
	}()
	defer func() { _ = unix.CloseRead(); <-heard }()
	err := errors.New("this process cannot become another program")
	if d.Upgrade != nil {
		err = d.becomeNew(ctx, u, func() { _ = c.Send(wire.KindMoved, wire.Moved{}) })
	}
	d.Log.Warn("the daemon has not become another program", "error", err)
	_ = c.Send(wire.KindRefused, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)}) // the client may be gone
}

// becomeNew becomes the new program, or returns why not and goes on as before. It calls tell at
// the point of no return.
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
	accepting := d.holdClients()
	defer accepting()
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
		err = fault.Wrap("become "+d.Upgrade.Program, err, "the daemon goes on as before")
	}
	if undo != nil {
		if _, unread := memory.Seek(0, io.SeekStart); unread != nil {
			return errors.Join(err, unread)
		}
		err = errors.Join(err, undo(memory))
	}
	return err
}

// exec becomes the program. It returns only if that fails.
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

// moving says whether the daemon is being upgraded.
type moving struct {
	over chan struct{} // closed when it is over; nil: it is not under way; guarded by the daemon's mutex
}

// holdClients makes clients that connect from now on wait, until the function that it returns is
// called.
func (d *Daemon) holdClients() (release func()) {
	d.mu.Lock()
	d.moving.over = make(chan struct{})
	d.mu.Unlock()
	_ = d.Upgrade.Door.SetDeadline(time.Unix(1, 0))
	return func() {
		_ = d.Upgrade.Door.SetDeadline(time.Time{})
		d.mu.Lock()
		defer d.mu.Unlock()
		close(d.moving.over)
		d.moving.over = nil
	}
}

// held waits until clients are not held any more. It reports whether they were.
func (d *Daemon) held(ctx context.Context) bool {
	d.mu.Lock()
	over := d.moving.over
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
			return errors.New("a view does not end")
		}
	}
}

// add adds a view, unless the daemon is being upgraded.
func (d *Daemon) add(v *view) (added bool) {
	d.change(func() {
		if added = d.moving.over == nil; added {
			d.views = append(d.views, v)
		}
	})
	return added
}
