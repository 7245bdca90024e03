package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// view is the user interface that runs for one client's terminal.
type view struct {
	conn *wire.Conn
	unix *net.UnixConn
	log  *slog.Logger

	client   wire.Client // as it was when it attached
	named    bool        // by the person
	asked    wire.View
	in, out  *os.File // its terminal
	activity *Activity
	present  func() bool // whether the client is in the foreground
	cancel   func()      // ends the view
	kicked   atomic.Bool // by another client
	broken   atomic.Bool // it has panicked
	moved    atomic.Bool // the daemon is being upgraded, and the client is to connect again
	stalled  atomic.Bool // its terminal takes no output
	others   func() int  // how many other views there are

	// A frame of the client puts a value into one of these. Each channel has room for one value and
	// drops further ones, which would say no more.
	resized, stopping, continued chan struct{}

	lending sync.Mutex     // held while the client runs a program
	lent    chan wire.Lent // how that program ended; capacity 1
}

// receive takes over the terminal that came with a frame. It refuses the daemon's own terminals.
func (v *view) receive(f wire.Frame, own func(*os.File) bool) (err error) {
	if err := f.Into(&v.asked); err != nil {
		return err
	}
	if len(f.Files) != 2 || !outer.IsTerminal(f.Files[0]) || !outer.IsTerminal(f.Files[1]) {
		return errors.New("show a view: the client has passed no terminal")
	}
	if own != nil && (own(f.Files[0]) || own(f.Files[1])) {
		return fault.New("use another terminal", "this terminal is one of the multiplexer's own tabs")
	}
	if v.client.Rights != wire.Operate { // it may not run a program, open a tab or answer with a key
		v.asked = wire.View{Dir: v.asked.Dir, Terminal: v.asked.Terminal, Show: v.asked.Show, Settings: v.asked.Settings}
	}
	v.in, v.out = f.Files[0], f.Files[1]
	if v.present, err = presence(v.unix); err != nil {
		return fmt.Errorf("show a view: %w", err)
	}
	v.resized, v.stopping, v.continued = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	v.lent = make(chan wire.Lent, 1)
	return nil
}

// run shows the view.
func (v *view) run(ctx context.Context, d *Daemon) (end string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		defer cancel() // when the client ends, so does its view
		_, _ = v.guarded(func() (string, error) { v.receiveFrames(); return "", nil })
	}()
	end, err = v.guarded(func() (string, error) {
		return d.Show(ctx, Client{In: v.in, Out: v.out, Asked: v.asked, Rights: v.client.Rights, Version: v.client.Version, Identity: v.client.Client, Named: v.named, Others: v.others, Failed: v.failed, Activity: v.activity, Stalled: func(yes bool) {
			d.change(func() { v.stalled.Store(yes) })
		}, Passed: outer.Passed{
			Getenv:   func(name string) string { return v.asked.Terminal[name] },
			Resized:  v.resized,
			Stopping: v.stopping, Continued: v.continued,
			Released: func() { _ = v.conn.Send(wire.KindReleased, nil) },
			Present:  v.present,
			Run:      v.lend,
			Settings: v.asked.Settings,
			Moving:   v.moved.Load,
		}})
	})
	_ = v.unix.CloseRead() // this ends receiveFrames
	<-heard
	if v.broken.Load() && !errors.Is(err, ErrQuit) {
		return "", errFailed
	}
	return end, err
}

// receiveFrames handles the client's frames until the connection ends.
func (v *view) receiveFrames() {
	for {
		f, err := v.conn.Receive()
		if err != nil || len(f.Files) > 0 {
			f.Close()
			return
		}
		switch f.Kind {
		case wire.KindResized:
			note(v.resized)
		case wire.KindStopping:
			note(v.stopping)
		case wire.KindContinued:
			note(v.continued)
		case wire.KindLent:
			var l wire.Lent
			if f.Into(&l) != nil {
				return
			}
			select {
			case v.lent <- l:
			default: // the terminal was not lent
			}
		default:
			return
		}
	}
}

// note puts a value into a channel, unless the channel is full.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// lend makes the client run a program in its terminal.
func (v *view) lend(ctx context.Context, argv []string) error {
	if v.client.Rights != wire.Operate {
		return fault.New("use a client without limited rights", "this client may not run programs")
	}
	v.lending.Lock()
	defer v.lending.Unlock()
	if err := v.conn.Send(wire.KindLend, wire.Lend{Argv: argv}); err != nil {
		return err
	}
	select {
	case l := <-v.lent:
		if l.Error != "" {
			return errors.New(l.Error)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// show runs a view for a client.
func (d *Daemon) show(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame, who wire.Client, named bool) (quit bool) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		_ = c.Send(wire.KindEnd, wire.End{
			Reason: fmt.Sprintf("%d views are open, and no more are allowed", maxViews), Next: "detach one with 'ironcurtain-mux clients kick'", Failed: true,
		})
		return false
	}
	v := &view{conn: c, unix: unix, log: d.Log, client: who, named: named, activity: new(Activity), others: func() int { return len(d.slots) - 1 }}
	ctx, v.cancel = context.WithCancel(ctx)
	defer v.cancel()
	err := v.receive(f, d.Own)
	var end string
	if err == nil && !d.add(v) {
		_ = c.Send(wire.KindMoved, wire.Moved{Follows: v.asked.Follows(), Show: v.asked.Show})
		return false
	}
	if err == nil {
		end, err = d.showing(v, func() (string, error) {
			end, err := v.run(ctx, d)
			if v.moved.Load() && !errors.Is(err, ErrQuit) {
				_ = c.Send(wire.KindMoved, wire.Moved{Follows: v.present(), Show: v.front()}) // the client may be gone
			}
			return end, err
		})
	}
	switch {
	case errors.Is(err, ErrQuit) && who.Rights == wire.Operate:
		return true
	case errors.Is(err, ErrQuit):
		err = nil // without the right to end everything, quitting only ends the view
	case v.moved.Load():
		return false
	case v.kicked.Load():
		d.forgetTyped(who) // kick has done so already, but more may have been typed while the view ended
		end, err = "another terminal has detached this one", nil
	case err == nil && d.standsDown():
		end = "the daemon was stopped; its agents keep running, and 'ironcurtain-mux' takes them back"
	}
	message := wire.End{Reason: end}
	if err != nil {
		message = wire.End{Reason: err.Error(), Next: fault.Hint(err), Failed: true, Again: v.broken.Load()}
	}
	_ = c.Send(wire.KindEnd, message) // the client may be gone
	return false
}

// showing runs a view that was added, and removes it from the list of views afterwards.
func (d *Daemon) showing(v *view, run func() (string, error)) (string, error) {
	defer d.change(func() { d.views = slices.DeleteFunc(d.views, func(other *view) bool { return other == v }) })
	return run()
}

// guarded runs a goroutine of a view. A panic ends the view and nothing else.
func (v *view) guarded(run func() (string, error)) (end string, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.failed(p, debug.Stack())
			err = errFailed
		}
	}()
	return run()
}

// errFailed is the error of a view that has panicked. The client writes client.ErrViewFailed before it.
var errFailed = fault.New("attach again: nothing is lost", "the daemon's log says why")

// failed writes a panic of the view to the log.
func (v *view) failed(p any, stack []byte) {
	v.broken.Store(true)
	v.log.Error("a view panicked", "panic", fmt.Sprint(p), "stack", string(stack))
}
