package daemon

import (
	"cmp"
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
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Limits of what clients may take.
const (
	maxConns   = 64
	moreConns  = 4 // for requests that are answered at once, and for calls that end soon
	maxViews   = 16
	maxTasks   = 16
	helloLimit = 2 * time.Second
	briefly    = 10 * time.Second // how long a client may call that is one of moreConns
)

// Client is what a view is shown to.
type Client struct {
	In, Out  *os.File // its terminal
	Passed   outer.Passed
	Asked    wire.View
	Rights   wire.Right                // of the client; a view that is shown has no more
	Version  string                    // of its program
	Identity identity.Client           // for the records of what is decided there
	Named    bool                      // the person has given the client its name
	Others   func() int                // how many other views there are
	Failed   func(p any, stack []byte) // is called with a panic of the view
	Activity *Activity                 // the view keeps it
	Stalled  func(bool)                // is called with whether its terminal has taken no output for long
}

// ErrQuit is returned by Show when the person has asked to end everything.
var ErrQuit = errors.New("the person has ended everything")

// Daemon serves clients on a socket.
type Daemon struct {
	Version string // of this program
	Program string // the path of its file
	Build   string // what no other file has
	Log     *slog.Logger
	// Show runs a view for a client until the person leaves it or ctx ends. It returns what to
	// tell the person afterwards. Nil: only calls are served, and nothing about views.
	Show func(ctx context.Context, c Client) (end string, err error)
	// Calls is what clients can call without a view.
	Calls broker.Calls
	// Carry carries out a task, until its end or that of ctx. It returns what the client ends with.
	Carry func(ctx context.Context, t Task) wire.End
	// Attended is called with whether somebody may see a view, or waits for a task, whenever that
	// changes.
	Attended func(bool)
	// Notify notifies the person of what happens, for all views together and also without any, until
	// ctx ends. looked reports whether somebody is probably looking at a tab. Nil: nobody is notified.
	Notify func(ctx context.Context, looked func(tab int) bool)
	// Own reports whether a terminal is that of one of the daemon's own tabs, in which a view would
	// show itself; nil: none is.
	Own func(*os.File) bool
	// Running says what ends with the daemon, such as "2 agents run"; empty: nothing.
	Running func() string
	// Kicked is called with a client that another one has detached, so that nothing that was typed
	// there counts any more; nil: nobody wants to know.
	Kicked func(identity.Client)
	// Idle is how long a daemon without a client waits for one before it ends, while nothing
	// runs and Waiting reports false. 0: it does not end by itself.
	Idle time.Duration
	// Waiting reports whether something waits for a person.
	Waiting func() bool
	// End ends every session, and returns what to tell the person about it. It is called once,
	// when the other views have ended.
	End func() string
	// Upgrade is how the daemon becomes another program; nil: it does not.
	Upgrade *Upgrade
	// StandDown is called in place of End when the context of Serve has ended: sessions stay, for
	// the next daemon.
	StandDown func()

	conns   sync.WaitGroup
	slots   chan struct{} // one value for each view
	tasks   chan struct{} // and one for each task
	open    atomic.Int64  // connections
	lasting atomic.Int64  // those that may stay open
	brief   time.Duration // briefly, but in tests
	cancel  context.CancelFunc
	stands  func() bool // whether the daemon stands down
	moving  moving

	mu        sync.Mutex
	views     []*view
	attending int          // clients that wait for their tasks
	waiting   []*wire.Conn // of clients that have ended everything, and wait for what it came to
}

// Serve serves the clients of this process's user on l until a client ends everything, or
// nobody has come for long. Then it ends the views, and the sessions. When ctx ends it stands
// down: it ends the views only.
func (d *Daemon) Serve(ctx context.Context, l *net.UnixListener) error {
	d.stands = func() bool { return ctx.Err() != nil }
	inner, cancel := context.WithCancel(ctx)
	d.cancel = cancel
	d.brief = cmp.Or(d.brief, briefly)
	d.slots, d.tasks = make(chan struct{}, maxViews), make(chan struct{}, maxTasks)
	if d.Idle > 0 {
		d.conns.Go(func() { d.endWhenIdle(inner) })
	}
	if d.Notify != nil {
		d.conns.Go(func() { d.Notify(inner, d.looked) })
	}
	err := d.accept(inner, l)
	cancel()
	d.conns.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stands() && len(d.waiting) == 0 {
		d.StandDown()
		return err
	}
	said := d.End()
	for _, c := range d.waiting {
		_ = c.Send(wire.KindEnd, wire.End{Reason: said}) // it may be gone
		_ = c.Close()
	}
	return err
}

// accept serves clients until ctx ends.
func (d *Daemon) accept(ctx context.Context, l *net.UnixListener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	conns := make(chan struct{}, maxConns+moreConns)
	for {
		select {
		case conns <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := accept.Next(ctx, l, func(err error, _ time.Duration) {
			if !d.held(ctx) {
				d.Log.Warn("a client could not be accepted", "error", err)
			}
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("serve clients: %w", err)
		}
		d.conns.Go(func() {
			defer func() { <-conns }()
			d.serve(ctx, conn.(*net.UnixConn))
		})
	}
}

// serve serves one client. A panic ends its connection, and nothing else.
func (d *Daemon) serve(ctx context.Context, unix *net.UnixConn) {
	c := wire.NewConn(unix)
	defer func() {
		if p := recover(); p != nil {
			d.Log.Error("serving a client has failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			_ = c.Close()
		}
	}()
	d.open.Add(1)
	defer d.open.Add(-1)
	if d.talk(ctx, c, unix) {
		d.mu.Lock()
		d.waiting = append(d.waiting, c)
		d.mu.Unlock()
		d.cancel()
		return
	}
	_ = c.Close()
}

// talk speaks with a client until it is served. It reports whether the client ends everything;
// its connection stays open then.
func (d *Daemon) talk(ctx context.Context, c *wire.Conn, unix *net.UnixConn) (quit bool) {
	defer context.AfterFunc(ctx, func() { _ = unix.CloseRead() })() // it may say nothing for long
	if err := wire.CheckPeer(unix); err != nil {
		d.Log.Warn("a client was refused", "error", err)
		return false
	}
	hello, who, err := d.welcome(c)
	if err != nil {
		return false // a client that is gone, or none
	}
	if hello.Kind == wire.ForCalls {
		defer d.lasting.Add(-1)
		if d.lasting.Add(1) > maxConns { // it may want to deny a call
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, d.brief)
			defer end()
		}
		calls.Serve(ctx, c, calls.Served{Broker: d.Calls, Right: hello.Rights, Client: who.Client, Hello: hello, Version: d.Version})
		return false
	}
	c.SetReceiveLimit(helloLimit)
	f, err := c.Receive()
	c.SetReceiveLimit(0)
	if err != nil {
		_ = c.Send(wire.KindRefused, wire.Refused{Reason: err.Error()}) // the client may be gone
		return false
	}
	if f.Kind != wire.KindView && !mayAsk(hello.Rights, f.Kind) {
		f.Close()
		_ = c.Send(wire.KindRefused, wire.Refused{Reason: fmt.Sprintf("this client may not do that: %q is more than %q", f.Kind, hello.Rights), Next: "use a client without a limit"})
		return false
	}
	if short := f.Kind == wire.KindClients || f.Kind == wire.KindKick || f.Kind == wire.KindStop; !short {
		defer d.lasting.Add(-1)
		if d.lasting.Add(1) > maxConns {
			f.Close()
			_ = c.Send(wire.KindRefused, tooMany()) // the client may be gone
			return false
		}
	}
	switch f.Kind {
	case wire.KindView:
		return d.show(ctx, c, unix, f, who, hello.Named)
	case wire.KindTask:
		d.task(ctx, c, unix, f, who.Client)
		return false
	case wire.KindStop:
		return d.stop(c, f)
	case wire.KindUpgrade:
		f.Close()
		d.upgrade(ctx, c, unix, f)
		return false
	}
	f.Close()
	switch f.Kind {
	case wire.KindClients:
		_ = c.Send(wire.KindShown, wire.Shown{Clients: d.shown()}) // the client may be gone
		return false
	case wire.KindKick:
		d.kick(c, f)
		return false
	}
	_ = c.Send(wire.KindRefused, wire.Refused{Reason: fmt.Sprintf("the daemon does not know %q", f.Kind)})
	return false
}

// mayAsk reports whether a client may ask for something about views.
func mayAsk(right wire.Right, kind string) bool {
	return right == wire.Operate || right == wire.See && kind == wire.KindClients
}

// show runs a view for a client.
func (d *Daemon) show(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame, who wire.Client, named bool) (quit bool) {
	defer f.Close()
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
		_ = c.Send(wire.KindMoved, wire.Moved{Follows: v.asked.Follows, Show: v.asked.Show})
		return false
	}
	if err == nil {
		end, err = d.showing(v, func() (string, error) {
			end, err := v.run(ctx, d)
			if v.moved.Load() && !errors.Is(err, ErrQuit) {
				_ = c.Send(wire.KindMoved, wire.Moved{Follows: v.present(), Show: d.inFront(v)}) // the client may be gone
			}
			return end, err
		})
	}
	switch {
	case errors.Is(err, ErrQuit) && who.Rights == wire.Operate:
		return true
	case errors.Is(err, ErrQuit):
		err = nil // it has ended itself
	case v.moved.Load():
		return false
	case v.kicked.Load():
		d.forget(who) // also what was typed while the view ended
		end, err = "another terminal has detached this one", nil
	case err == nil && d.stands():
		end = "the daemon was stopped; its agents run on, and 'ironcurtain-mux' takes them back"
	}
	message := wire.End{Reason: end}
	if err != nil {
		message = wire.End{Reason: err.Error(), Next: fault.Hint(err), Failed: true, Again: v.broken.Load()}
	}
	_ = c.Send(wire.KindEnd, message) // the client may be gone
	return false
}

// showing runs a view that was added, which other clients see meanwhile.
func (d *Daemon) showing(v *view, run func() (string, error)) (string, error) {
	defer d.change(func() { d.views = slices.DeleteFunc(d.views, func(other *view) bool { return other == v }) })
	return run()
}

// change changes which views are shown, or stalled, or which clients wait for tasks.
func (d *Daemon) change(views func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.attended()
	views()
	if now := d.attended(); now != was {
		d.Attended(now)
	}
}

// attended reports whether somebody who may decide may see a view or the calls of a task. The
// caller holds the mutex.
func (d *Daemon) attended() bool {
	return d.attending > 0 || slices.ContainsFunc(d.views, func(v *view) bool { return !v.stalled.Load() && v.client.Rights != wire.See })
}

// endWhenIdle ends the daemon when it has been idle for long.
func (d *Daemon) endWhenIdle(ctx context.Context) {
	const steps = 20 // in which the time is measured
	ticks := time.NewTicker(d.Idle / steps)
	defer ticks.Stop()
	for idle := 0; idle < steps; {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		if idle++; d.open.Load() > 0 || len(d.tasks) > 0 || d.Running() != "" || d.Waiting() {
			idle = 0
		}
	}
	d.Log.Info("the daemon ends: nothing runs, and nobody has come for long", "time", d.Idle.String())
	d.cancel()
}

// stop ends everything for a client, unless something runs.
func (d *Daemon) stop(c *wire.Conn, f wire.Frame) (quit bool) {
	f.Close()
	var s wire.Stop
	if f.Into(&s) != nil {
		return false
	}
	if what := d.Running(); what != "" && !s.Now {
		_ = c.Send(wire.KindRefused, wire.Refused{Reason: what, Next: "'ironcurtain-mux stop --now' ends them, 'ironcurtain-mux attach' shows them"})
		return false
	}
	return true
}

// guarded runs a goroutine of a view. A panic in it is the view's end, and nobody else's.
func (v *view) guarded(run func() (string, error)) (end string, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.failed(p, debug.Stack())
			err = errFailed
		}
	}()
	return run()
}

// errFailed tells the person of a panic.
var errFailed = errors.New("the view has failed; the log of the daemon says how. Attach again: nothing is lost")

// failed writes a panic of the view to the log.
func (v *view) failed(p any, stack []byte) {
	v.broken.Store(true)
	v.log.Error("a view has failed", "panic", fmt.Sprint(p), "stack", string(stack))
}
