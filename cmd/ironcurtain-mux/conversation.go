package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// conversation gives one session's agent tasks and lets a person decide, line
// by line. Only run's goroutine touches its fields, but for calls.
type conversation struct {
	broker   *broker.Broker
	session  broker.Session
	home     string
	events   <-chan broker.Event
	lines    <-chan string // what a person or a script types; nil: nobody does
	person   bool          // the input is a terminal
	terminal bool          // the output is one
	out      io.Writer     // answers
	notes    io.Writer     // everything else
	asJSON   bool
	waiting  map[int]broker.Escalation // by number
	trouble  string                    // of the container engine, as it was told last

	mu    sync.Mutex
	calls []judgedCall // judged since the last task began
}

// turnResult is what the broker's Turn returned for a task.
type turnResult struct {
	turn broker.Turn
	err  error
}

// errLeave ends a conversation that went well.
var errLeave = errors.New("leave")

// readLines delivers the input's lines, one at a time, until it ends. The last
// reader may stay in a read when ctx has ended; the program ends then.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string) // must-deliver, one at a time
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// run carries out the one task, or all that are typed.
func (c *conversation) run(ctx context.Context, task string) error {
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { c.follow(following) })
	defer follower.Wait()
	defer stop()
	if task != "" {
		return c.carryOut(ctx, task)
	}
	var last error
	for {
		c.invite()
		select {
		case line, more := <-c.lines:
			if !more {
				return last
			}
			order := strings.TrimSpace(line)
			err := c.line(ctx, order)
			if errors.Is(err, errLeave) {
				return last
			}
			if err != nil {
				c.note("%v", err)
			}
			if order != "" && !isCommand(order) {
				last = err
			}
		case ev, more := <-c.events:
			if err := c.event(ev, more); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// line is one line between tasks: a command or a task.
func (c *conversation) line(ctx context.Context, line string) error {
	switch {
	case line == "":
		return nil
	case isCommand(line):
		return c.command(ctx, line)
	}
	return c.carryOut(ctx, strings.TrimPrefix(line, "/"))
}

// carryOut gives the agent a task and, until it answers, tells what waits and
// takes decisions.
func (c *conversation) carryOut(ctx context.Context, task string) error {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	turning, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan turnResult, 1)
	go func() {
		t, err := c.broker.Turn(turning, c.session.ID, task)
		done <- turnResult{t, err}
	}()
	inputEnded := false
	for {
		lines := c.lines
		if inputEnded || !c.person && len(c.waiting) == 0 {
			lines = nil // a script's next line is its next task, unless something waits for it
		}
		select {
		case e := <-done:
			return c.answer(task, e)
		case ev, more := <-c.events:
			if err := c.event(ev, more); err != nil {
				cancel()
				<-done
				return err
			}
		case line, more := <-lines:
			if !more {
				inputEnded = true // the task goes on
				continue
			}
			switch err := c.lineWhileBusy(ctx, line); {
			case errors.Is(err, errLeave):
				cancel()
				<-done
				return errLeave
			case err != nil:
				c.note("%v", err)
			}
		}
	}
}

// lineWhileBusy is a line that is typed while the agent works.
func (c *conversation) lineWhileBusy(ctx context.Context, line string) error {
	switch line = strings.TrimSpace(line); {
	case line == "":
		return nil
	case strings.HasPrefix(line, "/"):
		return c.command(ctx, line)
	}
	return errors.New("the agent is at work; /quit ends it")
}
