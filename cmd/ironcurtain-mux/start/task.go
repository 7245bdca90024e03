package start

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// giveBackLimit is how long writing the last output to a client's streams may take, when the task
// is ended or the client is lost.
const giveBackLimit = 2 * time.Second

// Carry runs a client's task, or the tasks that are read from the client.
func Carry(ctx context.Context, w wiring.Parts, t daemon.Task, b *broker.Broker) wire.End {
	var said strings.Builder
	err := cli.AsInterrupt(ctx, runTasks(ctx, w, t, b, &said))
	if err == nil {
		return wire.End{Said: said.String()}
	}
	end := wire.End{Failed: true, Code: codeOf(err), Reason: err.Error(), Next: fault.Hint(err), Said: said.String()}
	if f := (*cli.Failure)(nil); errors.As(err, &f) {
		end.Op, end.Reason, end.Next = f.Op, f.Err.Error(), f.Hint()
	}
	return end
}

// runTasks opens the session, runs the tasks, and ends the session. It writes to said what the
// person must know about the end.
func runTasks(ctx context.Context, w wiring.Parts, t daemon.Task, b *broker.Broker, said io.Writer) error {
	const op = "start"
	open := t.Asked.Open
	if err := errors.Join(b.CheckTurns(open.Agent), b.CheckAgent(ctx, open.Agent)); err != nil {
		return cli.Fail(op, err, "")
	}
	c := &conversation{
		broker: b, client: t.Identity, home: w.Paths.Home, out: t.Streams.Out, notes: t.Streams.Err,
		asJSON: t.Asked.JSON, limit: t.Asked.Limit, waiting: map[int]shownCall{},
		again: func(ctx context.Context) (<-chan broker.Event, []broker.Escalation, error) { return follow(ctx, b) },
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var err error
	if c.events, err = b.Subscribe(following); err != nil {
		return cli.Fail(op, err, "")
	}
	request := broker.OpenRequest{
		Agent: open.Agent, Workspace: open.Workspace, Worktree: broker.WorktreeChoice(open.Worktree), Repo: open.Repo, Branch: open.Branch,
		Resume: broker.SessionID(open.Resume), Cols: 80, Rows: 24, Idle: true, Opener: broker.Opener{Keys: t.Asked.Keys},
	}
	if open.Profile != nil {
		request.Profile = broker.Profile(*open.Profile)
	}
	if c.session, err = b.Open(ctx, request); err != nil {
		return cli.Fail(op, err, "")
	}
	defer endSession(b, c.session.ID, t, said)
	return cli.Fail(op, converse(ctx, w, c, t), "")
}

// follow subscribes to the broker's events, and also returns the waiting calls.
func follow(ctx context.Context, b *broker.Broker) (<-chan broker.Event, []broker.Escalation, error) {
	events, err := b.Subscribe(ctx)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := b.Pending(ctx)
	return events, waiting, err
}

// converse runs the tasks of an open session on the client's streams. When the client is lost, the
// task continues without them.
func converse(ctx context.Context, w wiring.Parts, c *conversation, t daemon.Task) error {
	given := typedLine{text: t.Asked.Text, at: time.Now()}
	in, screen := t.Streams.In.IsTerminal(), t.Streams.Err.IsTerminal()
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	giveBack := func() {}
	if t.Asked.Detach {
		if _, err := fmt.Fprintln(c.out, c.session.ID); err != nil {
			return err
		}
		t.Leave()
		c.out, c.notes = io.Discard, io.Discard // the client has left
	} else {
		c.person, c.terminal = in, t.Streams.Out.IsTerminal()
		if in && screen {
			c.prompt = openPromptLine(t.Streams.In, t.Streams.Err, t.Passed, input.Choice{CommandKey: w.Config.CommandKey, Prefix: w.Config.Prefix, Keys: w.Config.Keys}, given.text == "")
		}
	}
	if t.Typed && in && (c.prompt != nil || t.Asked.Detach && screen) && !strings.ContainsAny(given.text, "\r\n") {
		given.spans = []receipt.Span{{Start: 0, End: len(given.text)}}
	}
	switch {
	case c.prompt != nil:
		c.lines, giveBack = c.prompt.read(reading)
		giveBack = sync.OnceFunc(giveBack)
		c.unread = func() error { return nil }
		c.notes = c.prompt.above(c.notes)
		if c.terminal {
			c.out = c.prompt.above(c.out)
		}
	case !t.Asked.Detach && (given.text == "" || c.person):
		c.lines, c.unread = readLines(reading, t.Streams.In)
	}
	done := attend(reading, c, t, giveBack)
	defer done()
	return c.run(ctx, given)
}

// attend gives the client's terminal back and closes its streams when the client is lost. When the
// task is ended, it ends writes to the streams that block. done gives the terminal back at the end of
// the task.
func attend(ctx context.Context, c *conversation, t daemon.Task, giveBack func()) (done func()) {
	free := time.AfterFunc(math.MaxInt64, t.Streams.End)
	stopFreeing := context.AfterFunc(ctx, func() { free.Reset(giveBackLimit) })
	stopping := t.Passed.Stopping
	if c.prompt != nil {
		stopping = nil // the prompt gives the terminal back first
	}
	ended := make(chan struct{})
	var attending sync.WaitGroup
	attending.Go(func() {
		for {
			select {
			case <-stopping:
				t.Passed.Released()
			case <-t.Lost:
				free.Reset(giveBackLimit)
				giveBack()
				t.Streams.Close() // ends all reads and writes
				return
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		attending.Wait()
		giveBack()
		stopFreeing()
		free.Stop()
	}
}

// endSession ends the session of a task. It writes to said what could not be ended and what the
// person must know, and not to the client's streams, which may have ended.
func endSession(b *broker.Broker, id broker.SessionID, t daemon.Task, said io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), wiring.ShutdownLimit)
	defer cancel()
	defer time.AfterFunc(wiring.ShutdownLimit+giveBackLimit, t.Streams.End).Stop()
	waiting, _ := b.Pending(ctx) // it never fails
	n := 0
	for _, e := range waiting {
		if e.Session == id {
			n++
		}
	}
	wiring.TellUndecided(said, n)
	slow := time.AfterFunc(wiring.SlowEnd, func() { fmt.Fprintln(t.Streams.Err, wiring.EndIsSlow) })
	err := b.Close(ctx, id)
	slow.Stop()
	if err != nil {
		fmt.Fprintf(said, "ironcurtain-mux: close: %s (run 'ironcurtain-mux gc')\n", text.ASCII(err.Error()))
	}
	select {
	case <-t.Lost:
		return // the daemon prints the notices at its own end
	default:
	}
	for _, notice := range b.EndNoticesOf(id) {
		fmt.Fprintln(said, text.Drawable(notice))
	}
}
