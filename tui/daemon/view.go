package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// view is the user interface that runs for one client's terminal.
type view struct {
	conn *wire.Conn
	unix *net.UnixConn
	log  *slog.Logger

	others func() int // how many other views there are

	// What the client has told. Each channel has one value, and is lossy: a second one says
	// no more.
	resized, stopping, continued chan struct{}

	lending sync.Mutex     // held while the client runs a program
	lent    chan wire.Lent // how it ended; capacity 1
}

// run shows the view on the terminal that came with a frame.
func (v *view) run(ctx context.Context, f wire.Frame, show func(context.Context, Client) (string, error)) (end string, err error) {
	var asked wire.View
	if err := f.Into(&asked); err != nil {
		return "", err
	}
	if len(f.Files) != 2 || !outer.IsTerminal(f.Files[0]) || !outer.IsTerminal(f.Files[1]) {
		return "", errors.New("show a view: the client has passed no terminal")
	}
	v.resized, v.stopping, v.continued = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	v.lent = make(chan wire.Lent, 1)
	present, err := presence(v.unix)
	if err != nil {
		return "", fmt.Errorf("show a view: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		defer cancel() // the client ends, and so does its view
		v.listen()
	}()
	end, err = v.guarded(func() (string, error) {
		return show(ctx, Client{In: f.Files[0], Out: f.Files[1], Asked: asked, Others: v.others, Failed: v.failed, Passed: outer.Passed{
			Getenv:   func(name string) string { return asked.Terminal[name] },
			Resized:  v.resized,
			Stopping: v.stopping, Continued: v.continued,
			Released: func() { _ = v.conn.Send(wire.KindReleased, nil) },
			Present:  present,
			Run:      v.lend,
		}})
	})
	_ = v.unix.CloseRead() // it hears no more
	<-heard
	return end, err
}

// listen hears what the client tells until it ends.
func (v *view) listen() {
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
			default: // nothing was lent
			}
		default:
			return
		}
	}
}

// note puts a value into a channel that holds one, unless it is full.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// lend makes the client run a program in its terminal.
func (v *view) lend(ctx context.Context, argv []string) error {
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
