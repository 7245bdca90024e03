package codemode

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// ask is a call or a sleep.
type ask struct {
	id    int64
	call  Call   // Index is 0 for a sleep
	what  string // see kept.Asked
	begin func() // carries it out, and answers it
}

// takeID counts a call or a sleep. An honest isolate never has too many under way, and never uses
// an id again.
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
		return errors.New("it called a tool that it was not given, or with arguments that are too long")
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

// asked begins a call or a sleep. As long as stored answers have to be given, it only adds it to
// those that are open.
func (c *conversation) asked(a ask) {
	c.mu.Lock()
	c.open = append(c.open, a)
	c.mu.Unlock()
	if len(c.past) == 0 {
		c.group.Go(a.begin)
	}
}

// errDiverged is the error of a program that was run again and did something else.
var errDiverged = errors.New("the program was run again, and did something else than the first time")

// replay gives the program its next stored answer. It is called when the program waits, because the
// program got one answer each time that it waited. After the last stored answer, the other open
// calls begin.
func (c *conversation) replay() error {
	if len(c.past) == 0 {
		return nil
	}
	k := c.past[0]
	// No call runs before the last answer is given, so nothing else changes c.open.
	at := slices.IndexFunc(c.open, func(a ask) bool { return a.id == k.ID && a.what == k.Asked && a.call.Index == k.Index })
	if at < 0 {
		return errDiverged
	}
	if call := c.open[at].call; k.Index > 0 {
		c.answered(k.Index, k.Answer)
		if c.program.Replayed != nil {
			c.program.Replayed(call, k.Answer)
		}
	}
	c.past = c.past[1:]
	c.closed(k.ID)
	_ = c.process.send(frameOf(k)) // if this fails, the isolate has ended, and listen reports it
	if len(c.past) == 0 {
		for _, a := range slices.Clone(c.open) {
			c.group.Go(a.begin)
		}
	}
	return nil
}

// closed removes a call or a sleep from those that have no answer, and returns it.
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

// answered notes the fate of a call, and ends a program after too many refusals.
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
	if c.ctx.Err() == nil { // the program can still get it
		c.program.Journal.keep(k)
	}
	_ = c.process.write(b) // if this fails, the isolate has ended, and listen reports it
}

// sleep answers after the time that the program asked for.
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
