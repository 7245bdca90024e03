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
	maxViews   = 16
	helloLimit = 2 * time.Second
)

// emptyTime is how long an empty daemon waits for a view.
const emptyTime = 3 * time.Second

// Client is what a view is shown to.
type Client struct {
	In, Out  *os.File // its terminal
	Passed   outer.Passed
	Asked    wire.View
	Identity identity.Client           // for the records of what is decided there
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
	Log     *slog.Logger
	// Show runs a view for a client until the person leaves it or ctx ends. It returns what to
	// tell the person afterwards. Nil: only calls are served, and nothing about views.
	Show func(ctx context.Context, c Client) (end string, err error)
	// Calls is what clients can call without a view.
	Calls broker.Calls
	// Attended is called with whether any view is shown on a terminal that takes output, whenever
	// that changes.
	Attended func(bool)
	// Own reports whether a terminal is that of one of the daemon's own tabs, in which a view would
	// show itself; nil: none is.
	Own func(*os.File) bool
	// Running says what ends with the daemon, such as "2 agents run"; empty: nothing.
	Running func() string
	// Empty reports whether there is nothing to come back for. If so, a daemon without a view
	// ends. Nil: it does not.
	Empty func() bool
	// End ends every session, and returns what to tell the person about it. It is called once,
	// when the other views have ended.
	End func() string

	conns  sync.WaitGroup
	slots  chan struct{} // one value for each view
	cancel context.CancelFunc

	mu      sync.Mutex
	views   []*view
	waiting []*wire.Conn // of clients that have ended everything, and wait for what it came to
}

// Serve serves the clients of this process's user on l until ctx ends or a client ends
// everything. Then it ends the views, and the sessions.
func (d *Daemon) Serve(ctx context.Context, l *net.UnixListener) error {
	ctx, d.cancel = context.WithCancel(ctx)
	d.slots = make(chan struct{}, maxViews)
	if d.Empty != nil {
		d.conns.Go(func() { d.endWhenEmpty(ctx) })
	}
	err := d.accept(ctx, l)
	d.cancel()
	d.conns.Wait()
	said := d.End()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.waiting {
		_ = c.Send(wire.KindEnd, wire.End{Reason: said}) // it may be gone
		_ = c.Close()
	}
	return err
}

// accept serves clients until ctx ends.
func (d *Daemon) accept(ctx context.Context, l *net.UnixListener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	conns := make(chan struct{}, maxConns)
	for {
		select {
		case conns <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := accept.Next(ctx, l, func(err error, _ time.Duration) {
			d.Log.Warn("a client could not be accepted", "error", err)
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
	switch f.Kind {
	case wire.KindView:
		return d.show(ctx, c, unix, f, who)
	case wire.KindStop:
		return d.stop(c, f)
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

// show runs a view for a client.
func (d *Daemon) show(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame, who wire.Client) (quit bool) {
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
	v := &view{conn: c, unix: unix, log: d.Log, client: who, activity: new(Activity), others: func() int { return len(d.slots) - 1 }}
	ctx, v.cancel = context.WithCancel(ctx)
	defer v.cancel()
	err := v.receive(f, d.Own)
	var end string
	if err == nil {
		end, err = d.showing(v, func() (string, error) { return v.run(ctx, d) })
	}
	switch {
	case errors.Is(err, ErrQuit):
		return true
	case v.kicked.Load():
		end, err = "another terminal has detached this one", nil
	}
	message := wire.End{Reason: end}
	if err != nil {
		message = wire.End{Reason: err.Error(), Next: fault.Hint(err), Failed: true, Again: v.broken.Load()}
	}
	_ = c.Send(wire.KindEnd, message) // the client may be gone
	return false
}

// showing runs a view that other clients see meanwhile.
func (d *Daemon) showing(v *view, run func() (string, error)) (string, error) {
	d.change(func() { d.views = append(d.views, v) })
	defer d.change(func() { d.views = slices.DeleteFunc(d.views, func(other *view) bool { return other == v }) })
	return run()
}

// change changes which views are shown, or stalled.
func (d *Daemon) change(views func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.attended()
	views()
	if now := d.attended(); now != was {
		d.Attended(now)
	}
}

// attended reports whether somebody may see a view. The caller holds the mutex.
func (d *Daemon) attended() bool {
	return slices.ContainsFunc(d.views, func(v *view) bool { return !v.stalled.Load() })
}

// endWhenEmpty ends the daemon when it has had neither a view nor anything else for a while.
func (d *Daemon) endWhenEmpty(ctx context.Context) {
	const each = emptyTime / 6
	ticks := time.NewTicker(each)
	defer ticks.Stop()
	var empty time.Duration
	for empty < emptyTime {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		d.mu.Lock()
		alone := len(d.views) == 0
		d.mu.Unlock()
		if empty += each; !alone || !d.Empty() {
			empty = 0
		}
	}
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
