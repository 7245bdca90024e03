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
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Limits on clients.
const (
	maxConns   = 64
	extraConns = 4 // beyond maxConns, for requests that are answered at once and for brief calls
	maxViews   = 16
	maxTasks   = 16
	helloLimit = 2 * time.Second
	briefTime  = 10 * time.Second // how long a client on one of the extraConns may make calls
)

// Client is a client to which a view is shown.
type Client struct {
	In, Out  *os.File // its terminal
	Passed   outer.Passed
	Asked    wire.View
	Rights   wire.Right                // of the client, and so of its view
	Version  string                    // of its program
	Identity identity.Client           // for the records of decisions made there
	Named    bool                      // the person has given the client its name
	Others   func() int                // how many other views there are
	Failed   func(p any, stack []byte) // is called when the view panics
	Activity *Activity                 // the view keeps it up to date
	Stalled  func(bool)                // is called with true when its terminal stalls, and with false when it no longer does
}

// Looked reports whether somebody with the right to operate is probably looking at a session's tab.
type Looked func(broker.SessionID) bool

// Muted reports whether a session's tab is muted in every view that has the right to operate. known
// is false when there is no such view.
type Muted func(id broker.SessionID) (yes, known bool)

// ErrQuit is returned by Show when the person has asked to end everything.
var ErrQuit = errors.New("the person has ended everything")

// Daemon serves clients on a socket.
type Daemon struct {
	Version string // of this program
	Program string // the path of its file
	Build   string // identifies that file
	Log     *slog.Logger
	// Show runs a view for a client until the person leaves it or ctx ends. It returns what the
	// client then prints. Nil: only calls are served, and no requests about views.
	Show func(ctx context.Context, c Client) (end string, err error)
	// Engine returns the container engine in use; nil: none.
	Engine func() wire.Engine
	// Calls are the methods that clients can call without a view.
	Calls broker.Calls
	// Carry carries out a task until the task or ctx ends. It returns the last frame for the client.
	Carry func(ctx context.Context, t Task) wire.End
	// Attended is called with true when the first person comes who may decide calls, at a view that
	// is not stalled or at a client that waits for a task, and with false when the last one leaves.
	Attended func(bool)
	// Notify notifies the person of events until ctx ends, once for all views and also when there is
	// none. Nil: nobody is notified.
	Notify func(ctx context.Context, looked Looked, muted Muted)
	// Own reports whether a terminal is that of one of the daemon's own tabs, in which a view would
	// show itself; nil: none is.
	Own func(*os.File) bool
	// Running describes what would end with the daemon, such as "2 agents run"; empty: nothing.
	Running func() string
	// Kicked is called with a client that another one has detached. It ends the receipts for what
	// was typed there. It may be nil.
	Kicked func(identity.Client)
	// Idle is how long the daemon waits before it ends, while no client is connected, nothing runs
	// and Waiting reports false. 0: it does not end by itself.
	Idle time.Duration
	// Waiting reports whether something waits for a person.
	Waiting func() bool
	// End ends every session, and returns what the clients that wait for it print. It is called
	// once, after all views have ended.
	End func() string
	// Tokens are the answer tokens that are accepted at TokenSocket; nil: there are none.
	Tokens      *token.Store
	TokenSocket string
	// Upgrade says how the daemon is upgraded; nil: it cannot be.
	Upgrade *Upgrade
	// StandDown is called instead of End when the context of Serve has ended: the agents keep
	// running, and the next daemon takes them back.
	StandDown func()

	conns       sync.WaitGroup
	slots       chan struct{} // one value for each view
	tasks       chan struct{} // one value for each task
	open        atomic.Int64  // connections
	lasting     atomic.Int64  // connections that may stay open for long
	brief       time.Duration // briefTime, or shorter in tests
	cancel      context.CancelFunc
	standsDown  func() bool // whether the daemon stands down
	upgrading   upgrading
	tokenSocket tokenSocket

	mu        sync.Mutex
	views     []*view
	attending int          // clients that wait for their tasks
	waiting   []*wire.Conn // of clients that have ended everything, and wait for the result
}

// Serve serves the clients of this process's user on l until a client ends everything, or the
// daemon has been idle for Idle. Then it ends the views and the sessions. When ctx ends it stands
// down: it ends only the views.
func (d *Daemon) Serve(ctx context.Context, l *net.UnixListener) error {
	d.standsDown = func() bool { return ctx.Err() != nil }
	inner, cancel := context.WithCancel(ctx)
	d.cancel = cancel
	d.brief = cmp.Or(d.brief, briefTime)
	d.slots, d.tasks = make(chan struct{}, maxViews), make(chan struct{}, maxTasks)
	if d.Idle > 0 {
		d.conns.Go(func() { d.endWhenIdle(inner) })
	}
	if d.Notify != nil {
		d.conns.Go(func() { d.Notify(inner, d.looked, d.muted) })
	}
	if d.Tokens != nil {
		d.serveTokens(inner)
	}
	err := d.accept(inner, l, maxConns+extraConns, d.serve)
	cancel()
	d.conns.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.standsDown() && len(d.waiting) == 0 {
		d.StandDown()
		return err
	}
	said := d.End()
	for _, c := range d.waiting {
		_ = c.Send(wire.KindEnd, wire.End{Reason: said}) // the client may be gone
		_ = c.Close()
	}
	return err
}

// accept serves the clients of a socket, at most so many at once, until ctx ends.
func (d *Daemon) accept(ctx context.Context, l net.Listener, most int, serve func(context.Context, *net.UnixConn)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	conns := make(chan struct{}, most)
	for {
		select {
		case conns <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := accept.Next(ctx, l, func(err error, _ time.Duration) {
			if !d.awaitUpgrade(ctx) {
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
			serve(ctx, conn.(*net.UnixConn))
		})
	}
}

// serve serves one client. A panic ends its connection, and nothing else.
func (d *Daemon) serve(ctx context.Context, unix *net.UnixConn) {
	c := wire.NewConn(unix)
	defer d.closeOnPanic(c)
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

// closeOnPanic, deferred, closes a connection when serving it panics.
func (d *Daemon) closeOnPanic(c *wire.Conn) {
	if p := recover(); p != nil {
		d.Log.Error("serving a client panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		_ = c.Close()
	}
}

// endWhenIdle ends the daemon when it has been idle for Idle.
func (d *Daemon) endWhenIdle(ctx context.Context) {
	const steps = 20 // Idle is measured in so many ticks
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
	d.Log.Info("the daemon ends: nothing runs, and no client was connected for a long time", "time", d.Idle.String())
	d.cancel()
}

// stop handles a client's request to end everything. It refuses while something runs, unless the
// client insists.
func (d *Daemon) stop(c *wire.Conn, f wire.Frame) (quit bool) {
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
