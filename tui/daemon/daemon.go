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

// Looked reports whether somebody is probably looking at the tab of a session.
type Looked func(broker.SessionID) bool

// Muted reports whether the tab of a session is muted in every view in which somebody may work.
// Without such a view that is not known.
type Muted func(id broker.SessionID) (yes, known bool)

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
	// Engine says which container engine is used; nil: none.
	Engine func() wire.Engine
	// Calls is what clients can call without a view.
	Calls broker.Calls
	// Carry carries out a task, until its end or that of ctx. It returns what the client ends with.
	Carry func(ctx context.Context, t Task) wire.End
	// Attended is called with whether somebody may see a view, or waits for a task, whenever that
	// changes.
	Attended func(bool)
	// Notify notifies the person of what happens, for all views together and also without any, until
	// ctx ends. Nil: nobody is notified.
	Notify func(ctx context.Context, looked Looked, muted Muted)
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
	// Tokens are those with which helpers answer calls at TokenSocket; nil: nobody can have one.
	Tokens      *token.Store
	TokenSocket string
	// Upgrade is how the daemon is being upgraded; nil: it does not.
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
	tokens  tokenDoor

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
		d.conns.Go(func() { d.Notify(inner, d.looked, d.muted) })
	}
	if d.Tokens != nil {
		d.serveTokens(inner)
	}
	err := d.accept(inner, l, maxConns+moreConns, d.serve)
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

// accept serves the clients that come to a socket, so many at once, until ctx ends.
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
			serve(ctx, conn.(*net.UnixConn))
		})
	}
}

// serve serves one client. A panic ends its connection, and nothing else.
func (d *Daemon) serve(ctx context.Context, unix *net.UnixConn) {
	c := wire.NewConn(unix)
	defer d.contain(c)
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

// contain, deferred, makes a panic the end of a connection.
func (d *Daemon) contain(c *wire.Conn) {
	if p := recover(); p != nil {
		d.Log.Error("serving a client has failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		_ = c.Close()
	}
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
	d.Log.Info("the daemon ends: nothing runs, and no terminal has shown it for a long time", "time", d.Idle.String())
	d.cancel()
}

// stop ends everything for a client, unless something runs.
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
