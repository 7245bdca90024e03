package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
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
	lines   []string        // of the program
	past    []kept          // answers from before a kill that are still to be given; listen has them
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

// ask is a call or a sleep.
type ask struct {
	id    int64
	call  Call   // Index is 0 for a sleep
	what  string // as in kept
	begin func() // begins it
}

// converse gives the isolate the program and answers it until the program has ended. Then
// nothing of the program is left, neither a process nor a call.
func converse(ctx context.Context, p *process, program Program, limits Limits, begins beginning, past []kept) Outcome {
	calls, endCalls := context.WithCancelCause(ctx)
	c := &conversation{process: p, program: program, limits: limits, meter: newMeter(), ctx: calls, lines: linesOf(program.Code), past: past}
	watching := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() { c.end("the program was taken back") })
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
			err = c.again()
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
	if f.Line > int64(len(c.lines)) {
		return errors.New("it called from a line that the program does not have")
	}
	if err := c.takeID(f.ID); err != nil {
		return err
	}
	c.mu.Lock()
	index, over := len(c.made)+1, len(c.made) >= MaxCalls
	if !over {
		c.made = append(c.made, Made{Server: tools[f.Tool].Server, Tool: tools[f.Tool].Name, Arguments: Excerpt(f.Text)})
	}
	c.mu.Unlock()
	if over {
		c.end(fmt.Sprintf("the program made more than %d calls", MaxCalls))
		return errors.New("too many calls")
	}
	c.meter.add(1, 0)
	made := Call{Index: index, Server: tools[f.Tool].Server, Tool: tools[f.Tool].Name, Arguments: []byte(f.Text), Line: int(f.Line)}
	if f.Line > 0 {
		made.Source = text.OneLine(c.lines[f.Line-1], maxArg)
	}
	c.asked(ask{id: f.ID, call: made, what: digest(f.Tool, f.Text), begin: func() {
		waiting := false
		answer := c.program.Do(c.ctx, made, func(begins bool) {
			if begins != waiting {
				waiting = begins
				c.meter.add(0, map[bool]int{true: 1, false: -1}[begins])
			}
		})
		if waiting {
			c.meter.add(0, -1)
		}
		c.answered(index, answer)
		c.answer(f.ID, answer)
	}})
	return nil
}

// asked begins a call or a sleep, unless answers from before have to be given first.
func (c *conversation) asked(a ask) {
	c.mu.Lock()
	c.open = append(c.open, a)
	c.mu.Unlock()
	if len(c.past) == 0 {
		c.group.Go(a.begin)
	}
}

// errParted is the error of a program that was run again.
var errParted = errors.New("the program was run again and did not do what it had done")

// again gives the program the next answer from before: it waits for it, since it got one answer
// each time that it waited. After the last one its other calls begin.
func (c *conversation) again() error {
	if len(c.past) == 0 {
		return nil
	}
	k := c.past[0]
	// No call runs before the last answer is given, so nothing else changes c.open.
	at := slices.IndexFunc(c.open, func(a ask) bool { return a.id == k.ID && a.what == k.Asked && a.call.Index == k.Index })
	if at < 0 {
		return errParted
	}
	if call := c.open[at].call; k.Index > 0 {
		c.answered(k.Index, k.Answer)
		if c.program.Again != nil {
			c.program.Again(call, k.Answer)
		}
	}
	c.past = c.past[1:]
	c.closed(k.ID)
	_ = c.process.send(frameOf(k)) // where this fails the isolate has ended, and listen says so
	if len(c.past) == 0 {
		for _, a := range slices.Clone(c.open) {
			c.group.Go(a.begin)
		}
	}
	return nil
}

// closed takes a call or a sleep off those that have no answer.
func (c *conversation) closed(id int64) (a ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying--
	if at := slices.IndexFunc(c.open, func(a ask) bool { return a.id == id }); at >= 0 {
		a = c.open[at]
		c.open = slices.Delete(c.open, at, at+1)
	}
	return a
}

func frameOf(k kept) wire.Frame {
	a := k.Answer
	return wire.Frame{Kind: wire.Result, ID: k.ID, OK: a.OK, Text: a.Text, Decision: a.Decision, Rule: a.Rule, Now: k.Now}
}

// answered notes what became of a call, and ends a program that does not take no for an answer.
func (c *conversation) answered(index int, a Answer) {
	c.meter.add(-1, 0)
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
	asked := c.closed(id)
	c.giving.Lock()
	defer c.giving.Unlock()
	k := kept{ID: id, Index: asked.call.Index, Asked: asked.what, Answer: a, Now: time.Now().UnixMilli()}
	b, err := wire.Encode(frameOf(k))
	if errors.Is(err, wire.ErrTooLarge) {
		k.Answer = Answer{Decision: tooLarge, Text: fmt.Sprintf("the call took effect, but its answer of %d bytes is too long for a program: ask for less of it", len(a.Text))}
		b, _ = wire.Encode(frameOf(k))
	}
	if c.ctx.Err() == nil { // the program is there to get it
		c.program.Journal.keep(k)
	}
	_ = c.process.write(b) // where this fails the isolate has ended, and listen says so
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
	c.asked(ask{id: f.ID, what: fmt.Sprintf("sleep %d", f.Now), begin: func() {
		timer := time.NewTimer(time.Duration(min(f.Now, time.Hour.Milliseconds())) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.answer(f.ID, Answer{OK: true, Text: "null"})
		case <-c.ctx.Done():
		}
	}})
	return nil
}

// outcome says how the program has ended. last is the isolate's last word, err why there is
// none.
func (c *conversation) outcome(last wire.Frame, err error) Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Outcome{Log: c.log.String(), Calls: c.made, Killed: c.killed != "", Parted: len(c.past) > 0}
	switch {
	case out.Parted:
		out.Killed = true
		out.fail(errParted.Error())
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
