package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
)

// errEnded is the cause with which the calls of an ended program are cancelled.
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
	lines   []string        // of the program
	past    []kept          // stored answers that are still to be given; only listen uses them
	giving  sync.Mutex      // orders answers

	mu      sync.Mutex
	open    []ask // calls and sleeps that have no answer, in the order of their ids
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
func converse(ctx context.Context, p *process, program Program, limits Limits, begins beginning, past []kept) Outcome {
	calls, endCalls := context.WithCancelCause(ctx)
	c := &conversation{process: p, program: program, limits: limits, meter: newMeter(), ctx: calls, lines: linesOf(program.Code), past: past}
	watching := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() { c.end("the program was withdrawn") })
	began := p.used()
	quit := make(chan struct{})
	go func() {
		defer close(watching)
		c.watch(began, quit)
	}()
	var last wire.Frame
	err := c.begin(begins)
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

// linesOf returns the lines of a program, as its language counts them.
func linesOf(code string) []string {
	return strings.Split(lineEnds.Replace(code), "\n")
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// begin sends the program.
func (c *conversation) begin(b beginning) error {
	err := c.process.send(wire.Frame{
		Kind: wire.Run, Code: b.Code, Tools: c.program.Tools.list, State: b.State,
		Seed: b.Seed, Now: b.Now, CPU: c.limits.CPU.Milliseconds(),
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

// listen handles what the isolate sends until it reports that the program has ended. An error means
// that the isolate has died, or must be killed.
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
			err = c.replay()
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

// outcome returns how the program has ended. last is the isolate's last frame; err is why it sent
// none.
func (c *conversation) outcome(last wire.Frame, err error) Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Outcome{Log: c.log.String(), Calls: c.made, Diverged: len(c.past) > 0}
	switch {
	case out.Diverged:
		out.fail(errDiverged.Error())
	case c.killed != "":
		out.fail(c.killed)
	case err != nil:
		out.fail(c.lastWords(err))
	case last.OK && !json.Valid([]byte(last.Text)):
		out.fail("the program's process did not return JSON")
	case last.OK:
		out.OK, out.Value, out.state = true, last.Text, last.State
	default:
		out.fail(last.Text)
		out.state = last.State
	}
	return out
}

// lastWords explains the end of an isolate that did not report the end of its program.
func (c *conversation) lastWords(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if said := c.process.said(); said != "" {
			return "the program's process has died: " + said
		}
		return "the program's process has died; it may have used too much memory or too deep a recursion"
	}
	return "the program's process was ended: " + err.Error()
}
