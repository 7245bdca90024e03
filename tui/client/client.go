package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Options say where the daemon is and who this client is.
type Options struct {
	Socket   string // of the daemon
	In, Out  *os.File
	Version  string // of this program
	Name     string // of this machine or, with Named, as the person calls this client
	Named    bool
	Terminal string     // the device of the person's terminal; empty: none
	Rights   wire.Right // to which the client limits itself; empty: no limit

	// Engine is the container engine that the daemon must use. The zero value: any.
	Engine Engine

	// Variables names variables of this environment that Start passes to a new daemon, in addition
	// to those that every daemon gets.
	Variables []string

	View wire.View // what to show; Attach adds the directory and what the terminal can do
}

// ErrNoDaemon means that nobody listens on the socket.
var ErrNoDaemon = wire.ErrNoDaemon

// ErrLost means that the daemon has ended without giving a reason while it showed a view. The
// agents keep running.
var ErrLost = errors.New("the daemon has ended")

// ErrViewFailed means that only the view has failed: attaching again shows a new one.
var ErrViewFailed = errors.New("the view has failed")

// Attach shows the daemon's view on a terminal until the person detaches or quits, ctx ends (which
// detaches, too), or the daemon ends. It returns a message for the person.
func Attach(ctx context.Context, o Options) (end string, err error) {
	saved, err := outer.Save(o.In, o.Out)
	if err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	o.View.Dir, o.View.Terminal = dir, terminalVariables()
	restore := saved.Restore
	if o.Rights == wire.Answer {
		lines := outer.SaveLines(o.In, o.Out)
		restore = func() error { // the view is lines below each other, and the last one is not complete
			_, err := fmt.Fprintln(o.Out)
			return errors.Join(lines(), err)
		}
	}
	for {
		end, err = attach(ctx, o, restore)
		var moved *movedError
		if !errors.As(err, &moved) {
			return end, err
		}
		o.View.Open, o.View.Here, o.View.Show, o.View.Settings = nil, false, moved.Show, nil
		if moved.Follows {
			if o.View.Settings, err = saved.Settings(); err != nil {
				return "", errors.Join(err, restore())
			}
		}
	}
}

// attach shows one view, until the daemon ends it or becomes another program. If the daemon has died, it
// restores the terminal.
func attach(ctx context.Context, o Options, restore func() error) (end string, err error) {
	var lost *lostError
	defer func() {
		if errors.As(err, &lost) {
			err = errors.Join(err, restore())
		}
	}()
	c, err := dial(ctx, o)
	if err != nil && o.View.Follows() {
		return "", &lostError{errors.Join(ErrLost, err)} // the former view has not restored the terminal
	}
	if err != nil {
		return "", err
	}
	defer c.conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.tellSignals(ctx)
	}()
	defer func() { cancel(); <-told }()
	if err := c.conn.Send(wire.KindView, o.View, o.In, o.Out); err != nil {
		return "", fmt.Errorf("pass the terminal to the daemon: %w", err)
	}
	return c.serve(ctx)
}

// movedError means that the daemon becomes another program, and the client must connect again.
type movedError struct{ wire.Moved }

func (e *movedError) Error() string { return "the daemon is being upgraded" }

// Stop ends the daemon with every session, and returns a message for the person. Unless now is set,
// the daemon refuses while agents run.
func Stop(ctx context.Context, o Options, now bool) (end string, err error) {
	c, done, err := request(ctx, o, wire.KindStop, wire.Stop{Now: now})
	if err != nil {
		return "", err
	}
	defer done()
	return c.serve(ctx)
}

// Kick ends the view of another client, and returns a message for the person. The start of the
// client's id is enough.
func Kick(ctx context.Context, o Options, id string) (end string, err error) {
	ended, err := ask[wire.End](ctx, o, wire.KindKick, wire.Kick{Client: id})
	return ended.Reason, err
}

// Clients lists the clients that show a view.
func Clients(ctx context.Context, o Options) ([]wire.Client, error) {
	shown, err := ask[wire.Shown](ctx, o, wire.KindClients, nil)
	return shown.Clients, err
}

// Tokens lists the answer tokens.
func Tokens(ctx context.Context, o Options) ([]token.Token, error) {
	tokens, err := ask[wire.Tokens](ctx, o, wire.KindTokens, nil)
	return tokens.Tokens, err
}

// MakeToken makes an answer token, and returns the secret that its owner shows.
func MakeToken(ctx context.Context, o Options, m wire.MakeToken) (secret string, err error) {
	made, err := ask[wire.Made](ctx, o, wire.KindMakeToken, m)
	return made.Secret, err
}

// RevokeToken ends an answer token, and returns a message for the person.
func RevokeToken(ctx context.Context, o Options, name string) (end string, err error) {
	ended, err := ask[wire.End](ctx, o, wire.KindRevokeToken, wire.RevokeToken{Name: name})
	return ended.Reason, err
}

// ask makes a request that the daemon answers with one frame.
func ask[A any](ctx context.Context, o Options, kind string, body any) (answer A, err error) {
	c, done, err := request(ctx, o, kind, body)
	if err != nil {
		return answer, err
	}
	defer done()
	f, err := c.conn.Receive()
	if err != nil {
		return answer, err
	}
	defer f.Close()
	if f.Kind == wire.KindRefused {
		var r wire.Refused
		if err := f.Into(&r); err != nil {
			return answer, err
		}
		return answer, fault.New(r.Next, "%s", r.Reason)
	}
	return answer, f.Into(&answer)
}

// request connects to the daemon and makes a request other than for a view. The connection ends
// with done or ctx.
func request(ctx context.Context, o Options, kind string, body any) (c *client, done func(), err error) {
	c, err = dial(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	done = func() { stop(); _ = c.conn.Close() }
	if err := c.conn.Send(kind, body); err != nil {
		done()
		return nil, nil, fmt.Errorf("reach the daemon: %w", err)
	}
	return c, done, nil
}

// terminalVariables returns the variables of the environment that describe the terminal.
func terminalVariables() map[string]string {
	all := map[string]string{}
	for _, name := range wire.TerminalVariables() {
		if value, set := os.LookupEnv(name); set {
			all[name] = value
		}
	}
	return all
}

// dial connects to the daemon for a view, or for a request about views or tasks.
func dial(ctx context.Context, o Options) (*client, error) {
	conn, w, err := wire.Dial(ctx, o.Socket, o.hello(wire.ForView))
	if err != nil {
		return nil, err
	}
	if err := o.Engine.check(w.Engine); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &client{conn: conn, o: o}, nil
}

// limited reports whether the client limits its rights.
func (o Options) limited() bool { return o.Rights != "" && o.Rights != wire.Operate }

// hello introduces this client.
func (o Options) hello(kind string) wire.Hello {
	return wire.Hello{Version: o.Version, Kind: kind, Rights: o.Rights, Name: o.Name, Named: o.Named, Terminal: o.Terminal}
}

// client is a connection to the daemon.
type client struct {
	conn *wire.Conn
	o    Options
}

// lostError means that the daemon has ended without giving a reason.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// lostBy returns ErrLost for the error of a connection that the daemon has closed, and any other
// error as it is.
func lostBy(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return ErrLost
	}
	return err
}

// serve does what the daemon asks for, until the view ends.
func (c *client) serve(ctx context.Context) (end string, err error) {
	for {
		f, err := c.conn.Receive()
		if err != nil {
			return "", &lostError{fault.New("its agents keep running; 'ironcurtain-mux' takes them back", "%w", lostBy(err))}
		}
		switch f.Kind {
		case wire.KindReleased:
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail for our own process
		case wire.KindLend:
			var l wire.Lend
			if err := f.Into(&l); err != nil {
				return "", &lostError{err}
			}
			var lent wire.Lent
			if c.o.limited() {
				lent.Error = "this client runs no programs, because its rights are limited"
			} else if err := outer.RunForeground(ctx, c.o.In, c.o.Out, l.Argv); err != nil {
				lent.Error = err.Error()
			}
			if err := c.conn.Send(wire.KindLent, lent); err != nil {
				return "", &lostError{err}
			}
		case wire.KindMoved:
			var m wire.Moved
			if err := f.Into(&m); err != nil {
				return "", &lostError{err}
			}
			return "", &movedError{m}
		case wire.KindRefused:
			var r wire.Refused
			if err := f.Into(&r); err != nil {
				return "", err
			}
			return "", fault.New(r.Next, "%s", r.Reason)
		case wire.KindEnd:
			var e wire.End
			if err := f.Into(&e); err != nil {
				return "", err
			}
			if e.Again {
				return "", fault.New(e.Next, "%w: %s", ErrViewFailed, e.Reason)
			}
			if e.Failed {
				return "", fault.New(e.Next, "%s", e.Reason)
			}
			return e.Reason, nil
		}
	}
}

// tellSignals reports this process's signals to the daemon until ctx ends, and then that the client
// ends.
func (c *client) tellSignals(ctx context.Context) {
	signals := make(chan os.Signal, 8) // lossy: a second signal of a kind says no more
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT)
	defer signal.Stop(signals)
	kinds := map[os.Signal]string{
		syscall.SIGWINCH: wire.KindResized, syscall.SIGTSTP: wire.KindStopping, syscall.SIGCONT: wire.KindContinued,
	}
	for {
		select {
		case s := <-signals:
			if c.conn.Send(kinds[s], nil) != nil {
				return // serve returns the error
			}
		case <-ctx.Done():
			_ = c.conn.Send(wire.KindBye, nil)
			return
		}
	}
}
