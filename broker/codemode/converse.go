package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
)

// errEnded is the cause for which the calls of a program end that has ended.
var errEnded = errors.New("the program that made the call has ended")

// EndedWith reports whether a call ended because its program did.
func EndedWith(err error) bool { return errors.Is(err, errEnded) }

// conversation is one program that runs.
type conversation struct {
	process *process
	program Program
	limits  Limits
	meter   *meter
	ctx     context.Context // of the calls
	group   sync.WaitGroup  // calls and sleeps

	mu      sync.Mutex
	made    []Made
	lastID  int64
	flying  int // calls and sleeps that have no answer
	sleeps  int
	refused int
	log     strings.Builder
	killed  string // why the host has ended it; empty: it has not
}

// converse gives the isolate the program and answers it until the program has ended. Then
// nothing of the program is left, neither a process nor a call.
func converse(ctx context.Context, p *process, program Program, limits Limits, state string) Outcome {
	calls, endCalls := context.WithCancelCause(ctx)
	c := &conversation{process: p, program: program, limits: limits, meter: newMeter(), ctx: calls}
	watching := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() { c.end("the program was taken back") })
	began := p.used()
	quit := make(chan struct{})
	go func() {
		defer close(watching)
		c.watch(began, quit)
	}()
	var last wire.Frame
	err := c.begin(state)
	if err == nil {
		last, err = c.listen()
	}
	close(quit)
	<-watching
	stopWatching()
	endCalls(errEnded)
	p.end()
	c.group.Wait()
	return c.outcome(last, err)
}

// begin sends the program.
func (c *conversation) begin(state string) error {
	err := c.process.send(wire.Frame{
		Kind: wire.Run, Code: c.program.Code, Tools: c.program.Tools.list, State: state,
		Seed: int64(rand.Uint32()), Now: time.Now().UnixMilli(), CPU: c.limits.CPU.Milliseconds(), //nolint:gosec // no secret depends on it
	})
	if errors.Is(err, wire.ErrTooLarge) {
		err = errors.New("the program is too long")
	}
	return err
}

// watch kills the program when it has used up one of its limits.
func (c *conversation) watch(began time.Duration, quit <-chan struct{}) {
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	for {
		select {
		case <-quit:
			return
		case <-timer.C:
		}
		used := c.process.used() - began
		if why := c.meter.spent(used, c.limits); why != "" {
			c.end(why)
			return
		}
		timer.Reset(c.meter.next(used, c.limits))
	}
}

// end kills the program and notes why.
func (c *conversation) end(why string) {
	c.mu.Lock()
	if c.killed == "" {
		c.killed = why
	}
	c.mu.Unlock()
	c.process.kill()
}

// listen reads what the isolate sends until it says that the program has ended. The error is
// of an isolate that has died, or has to.
func (c *conversation) listen() (wire.Frame, error) {
	for {
		f, err := wire.Read(c.process.frames)
		if err != nil {
			return f, err
		}
		switch f.Kind {
		case wire.Call:
			err = c.call(f)
		case wire.Sleep:
			err = c.sleep(f)
		case wire.Log:
			c.note(f.Text)
		case wire.Idle:
		case wire.Done:
			return f, nil
		default:
			err = fmt.Errorf("it sent a frame of the kind %s", f.Kind)
		}
		if err != nil {
			return wire.Frame{}, err
		}
	}
}

// note adds to the log of the program.
func (c *conversation) note(line string) {
	if room := maxLog - c.log.Len(); room > 0 {
		c.log.WriteString(line[:min(len(line), room)] + "\n")
	}
}

// takeID counts a call or a sleep. No honest isolate has too many under way, or uses an id
// again.
func (c *conversation) takeID(id int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id <= c.lastID || c.flying >= maxAtOnce {
		return errors.New("it used an id again, or made too many calls at a time")
	}
	c.lastID = id
	c.flying++
	return nil
}

// call begins a call of the program.
func (c *conversation) call(f wire.Frame) error {
	tools := c.program.Tools.tools
	if f.Tool >= int64(len(tools)) || len(f.Text) > maxArguments {
		return errors.New("it called a tool that it was not given, or with too much")
	}
	if err := c.takeID(f.ID); err != nil {
		return err
	}
	c.mu.Lock()
	index, over := len(c.made)+1, len(c.made) >= maxCalls
	if !over {
		c.made = append(c.made, Made{Server: tools[f.Tool].Server, Tool: tools[f.Tool].Name, Arguments: Excerpt(f.Text)})
	}
	c.mu.Unlock()
	if over {
		c.end(fmt.Sprintf("the program made more than %d calls", maxCalls))
		return errors.New("too many calls")
	}
	c.meter.add(1, 0)
	c.group.Go(func() {
		waiting := false
		answer := c.program.Do(c.ctx, Call{Index: index, Server: tools[f.Tool].Server, Tool: tools[f.Tool].Name, Arguments: []byte(f.Text)}, func(begins bool) {
			if begins != waiting {
				waiting = begins
				c.meter.add(0, map[bool]int{true: 1, false: -1}[begins])
			}
		})
		if waiting {
			c.meter.add(0, -1)
		}
		c.meter.add(-1, 0)
		c.answered(index, answer)
		c.answer(f.ID, answer)
	})
	return nil
}

// answered notes what became of a call, and ends a program that does not take no for an answer.
func (c *conversation) answered(index int, a Answer) {
	c.mu.Lock()
	c.made[index-1].Fate = a.Fate()
	if a.Refused && c.ctx.Err() == nil {
		c.refused++
	}
	enough := c.refused == maxRefused
	c.mu.Unlock()
	if enough {
		c.end(fmt.Sprintf("%d calls of the program were refused", maxRefused))
	}
}

// answer sends an answer to the isolate.
func (c *conversation) answer(id int64, a Answer) {
	f := wire.Frame{Kind: wire.Result, ID: id, OK: a.OK, Text: a.Text, Decision: a.Decision, Rule: a.Rule, Now: time.Now().UnixMilli()}
	c.mu.Lock()
	c.flying--
	c.mu.Unlock()
	err := c.process.send(f)
	if errors.Is(err, wire.ErrTooLarge) {
		f.OK, f.Decision, f.Rule = false, "too-large", ""
		f.Text = fmt.Sprintf("the call took effect, but its answer of %d bytes is too long for a program: ask for less of it", len(a.Text))
		_ = c.process.send(f) // where this fails the isolate has ended, and listen says so
	}
}

// sleep answers after a while.
func (c *conversation) sleep(f wire.Frame) error {
	if err := c.takeID(f.ID); err != nil {
		return err
	}
	c.mu.Lock()
	c.sleeps++
	over := c.sleeps > maxSleeps
	c.mu.Unlock()
	if over {
		return errors.New("it slept too often")
	}
	c.group.Go(func() {
		timer := time.NewTimer(time.Duration(min(f.Now, time.Hour.Milliseconds())) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.answer(f.ID, Answer{OK: true, Text: "null"})
		case <-c.ctx.Done():
		}
	})
	return nil
}

// outcome says how the program has ended. last is the isolate's last word, err why there is
// none.
func (c *conversation) outcome(last wire.Frame, err error) Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Outcome{Log: c.log.String(), Calls: c.made, Killed: c.killed != ""}
	switch {
	case c.killed != "":
		out.fail(c.killed)
	case err != nil:
		out.Killed = true
		out.fail(c.lastWords(err))
	case last.OK && !json.Valid([]byte(last.Text)):
		out.Killed = true
		out.fail("the program's process returned no JSON")
	case last.OK:
		out.OK, out.Value, out.state = true, last.Text, last.State
	default:
		out.fail(last.Text)
		out.state = last.State
	}
	return out
}

// lastWords explains the end of an isolate that did not say that its program has ended.
func (c *conversation) lastWords(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if said := c.process.words.String(); said != "" {
			return "the program's process has died: " + said
		}
		return "the program's process has died; it may have used too much memory or too deep a recursion"
	}
	return "the program's process was ended: " + err.Error()
}
