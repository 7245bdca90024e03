package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Task is a task that a client has given.
type Task struct {
	Asked    wire.Task
	Identity identity.Client // for the records of decisions made there
	Streams  *outer.Streams  // of the client; they may be closed once it is lost
	Passed   outer.Passed    // what the daemon cannot see of the client's terminal, without Run
	Typed    bool            // the task's text was typed in a shell, at the terminal of Streams.In
	// Lost is closed when the client has ended. The task continues.
	Lost <-chan struct{}
	// Leave lets the client end while the task continues.
	Leave func()
}

// task carries out a task for a client.
func (d *Daemon) task(ctx context.Context, c *wire.Conn, unix *net.UnixConn, f wire.Frame, who identity.Client) {
	select {
	case d.tasks <- struct{}{}:
		defer func() { <-d.tasks }()
	default:
		_ = c.Send(wire.KindEnd, wire.End{Reason: fmt.Sprintf("%d tasks run, and no more are allowed", maxTasks), Failed: true})
		return
	}
	t := &runningTask{daemon: d, conn: c, unix: unix, lost: make(chan struct{})}
	end, err := t.run(ctx, f, who)
	if err != nil {
		end = wire.End{Reason: err.Error(), Failed: true}
	}
	if end.Failed && ctx.Err() != nil {
		end.Reason, end.Next = "the multiplexer was ended", ""
	}
	_ = c.Send(wire.KindEnd, end) // the client may be gone
}

// runningTask is a task under way.
type runningTask struct {
	daemon *Daemon
	conn   *wire.Conn
	unix   *net.UnixConn

	// As in view.
	resized, stopping, continued chan struct{}

	once sync.Once
	lost chan struct{} // see Task.Lost
}

// run carries out the task on the streams that came with a frame. Until the client is lost, it
// counts as somebody who can decide calls.
func (t *runningTask) run(ctx context.Context, f wire.Frame, who identity.Client) (end wire.End, err error) {
	var asked wire.Task
	if err := f.Into(&asked); err != nil {
		return end, err
	}
	if len(f.Files) != 3 {
		return end, errors.New("carry out a task: the client has not passed its standard streams")
	}
	present, err := presence(t.unix)
	if err != nil {
		return end, fmt.Errorf("carry out a task: %w", err)
	}
	streams, err := outer.PassStreams(f.Files[0], f.Files[1], f.Files[2], present)
	if err != nil {
		return end, err
	}
	defer streams.Close()
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	t.resized, t.stopping, t.continued = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	d := t.daemon
	d.change(func() { d.attending++ })
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		t.receiveFrames(interrupt)
		t.leave()
	}()
	defer func() {
		_ = t.unix.CloseRead() // this ends receiveFrames
		<-heard
	}()
	typed := asked.Typed
	if known, byKernel := typedInShell(t.unix, f.Files[0]); byKernel {
		typed = known
	}
	return t.guarded(func() wire.End {
		return d.Carry(ctx, Task{Asked: asked, Identity: who, Streams: streams, Typed: typed, Lost: t.lost, Passed: outer.Passed{
			Getenv:  func(name string) string { return asked.Terminal[name] },
			Resized: t.resized, Stopping: t.stopping, Continued: t.continued,
			Released: func() { _ = t.conn.Send(wire.KindReleased, nil) },
			Present:  present,
		}, Leave: func() {
			_ = t.conn.Send(wire.KindEnd, wire.End{}) // the client may be gone
			t.leave()
		}})
	})
}

// leave notes that the client is lost.
func (t *runningTask) leave() {
	t.once.Do(func() {
		close(t.lost)
		t.daemon.change(func() { t.daemon.attending-- })
	})
}

// receiveFrames handles the client's frames until the connection ends.
func (t *runningTask) receiveFrames(interrupt func()) {
	for {
		f, err := t.conn.Receive()
		if err != nil || len(f.Files) > 0 {
			f.Close()
			return
		}
		switch f.Kind {
		case wire.KindResized:
			note(t.resized)
		case wire.KindStopping:
			note(t.stopping)
		case wire.KindContinued:
			note(t.continued)
		case wire.KindInterrupt:
			interrupt()
		default:
			return
		}
	}
}

// guarded carries out a task. A panic ends the task and nothing else.
func (t *runningTask) guarded(carry func() wire.End) (end wire.End, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.daemon.Log.Error("a task panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("the task has failed; the daemon's log says why")
		}
	}()
	return carry(), nil
}
