package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
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

	mu    sync.Mutex
	calls []carriedOut // judged since the last task began
}

// ended is how a task came out.
type ended struct {
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

// invite shows a person that a task can be typed.
func (c *conversation) invite() {
	if c.person {
		fmt.Fprint(c.notes, "> ")
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

// isCommand tells a command from a task. "//" at a task's start stands for one
// slash.
func isCommand(line string) bool {
	return strings.HasPrefix(line, "/") && !strings.HasPrefix(line, "//")
}

// carryOut gives the agent a task and, until it answers, tells what waits and
// takes decisions.
func (c *conversation) carryOut(ctx context.Context, task string) error {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	turning, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan ended, 1)
	go func() {
		t, err := c.broker.Turn(turning, c.session.ID, task)
		done <- ended{t, err}
	}()
	ended := false // the input
	for {
		lines := c.lines
		if ended || !c.person && len(c.waiting) == 0 {
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
				ended = true // the task goes on
				continue
			}
			switch err := c.whileBusy(ctx, line); {
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

// whileBusy is a line that is typed while the agent works.
func (c *conversation) whileBusy(ctx context.Context, line string) error {
	switch line = strings.TrimSpace(line); {
	case line == "":
		return nil
	case strings.HasPrefix(line, "/"):
		return c.command(ctx, line)
	}
	return errors.New("the agent is at work; /quit ends it")
}

// answer prints how a task came out.
func (c *conversation) answer(task string, e ended) error {
	if e.err != nil {
		return e.err
	}
	c.mu.Lock()
	calls := slices.Clone(c.calls)
	c.mu.Unlock()
	if err := c.print(task, e.turn, calls); err != nil {
		return err
	}
	if e.turn.Failure != "" {
		return fmt.Errorf("the agent gave no answer: %s", quoted(e.turn.Failure))
	}
	return nil
}

// command is what a line with a slash asks for.
func (c *conversation) command(ctx context.Context, line string) error {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	args = strings.TrimSpace(args)
	switch strings.ToLower(name) {
	case "quit", "exit":
		return errLeave
	case "approve":
		return c.decide(ctx, true, args, "")
	case "deny":
		number, reason, _ := strings.Cut(args, " ")
		if _, err := strconv.Atoi(strings.TrimPrefix(number, "#")); err != nil {
			number, reason = "", args
		}
		return c.decide(ctx, false, number, reason)
	case "budget":
		return c.budget(ctx, args)
	case "logs":
		return c.logs()
	}
	return fmt.Errorf("/%s: no such command; there are /approve [N], /deny [N] [REASON], /budget [+5], /logs and /quit", quoted(name))
}

// decide answers a waiting call: the one with that number, or the only one.
func (c *conversation) decide(ctx context.Context, approve bool, number, reason string) error {
	n, err := strconv.Atoi(strings.TrimPrefix(number, "#"))
	switch {
	case number == "" && len(c.waiting) == 1:
		for n = range c.waiting {
		}
	case number == "" && len(c.waiting) == 0:
		return errors.New("nothing waits")
	case number == "":
		return fmt.Errorf("%d calls wait; name one by its number", len(c.waiting))
	case err != nil:
		return fmt.Errorf("%q is no number", number)
	}
	e, waits := c.waiting[n]
	if !waits {
		return fmt.Errorf("call %d does not wait", n)
	}
	r, err := c.broker.Decide(ctx, broker.Decision{ID: e.ID, Digest: e.Digest, Approve: approve, Reason: reason, By: "start"})
	if err == nil {
		delete(c.waiting, n) // a script's next line is no decision any more
	}
	if err == nil && !r.Won {
		c.note("call %d was decided already: %s by %s", n, r.Outcome, plain(r.By))
	}
	return err
}

// budget tells what the session has used, or lets it use more.
func (c *conversation) budget(ctx context.Context, by string) error {
	if by != "" {
		one, err := c.broker.RaiseBudget(ctx, c.session.ID, by)
		if err == nil {
			c.note("this session may use $%.2f now", one.Allowance.CostUSD)
		}
		return err
	}
	all, err := c.broker.Budgets(ctx)
	if err != nil {
		return err
	}
	for _, one := range all.Sessions {
		if one.Session == c.session.ID {
			c.note("$%.4f of $%.2f, %d tokens, %d requests", one.Used.CostUSD, one.Allowance.CostUSD, one.Used.Tokens(), one.Used.Requests)
		}
	}
	return nil
}

// logs prints the newest records of the session.
func (c *conversation) logs() error {
	const newest = 20
	last, err := audit.Last(c.auditPath(), newest, func(audit.Line) bool { return true })
	if err != nil {
		return err
	}
	for _, l := range last {
		c.note("%s", recordText(l))
	}
	return nil
}

func (c *conversation) auditPath() string {
	return filepath.Join(c.home, "sessions", string(c.session.ID), "audit.jsonl")
}

// follow tells of each judged call as the audit gets it.
func (c *conversation) follow(ctx context.Context) {
	var seq uint64
	if last, err := audit.Last(c.auditPath(), 1, func(audit.Line) bool { return true }); err == nil && len(last) == 1 {
		seq = last[0].Seq // of a session that is resumed
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = audit.Tail(ctx, c.auditPath(), seq, func(l audit.Line) error { // it does not exist at first
			seq = l.Seq
			c.judged(l)
			return nil
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// judged notes one record about a tool call.
func (c *conversation) judged(l audit.Line) {
	if l.Plane != audit.PlaneTool || l.Tool == "" || l.Decision == audit.Done {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, carriedOut{string(l.Plane), l.Server, l.Tool, string(l.Decision), l.Rule})
	if !c.asJSON {
		const room = 80
		fmt.Fprintf(c.notes, "  %s/%s %s %.*s\n", plain(l.Server), plain(l.Tool), plain(string(l.Decision)), room, asciiJSON(l.Arguments))
	}
}

// progress tells of a step of the start when it begins, and what its builder said
// last when it fails.
func (c *conversation) progress(p broker.Progress) {
	if p.Elapsed == 0 && !p.Done && !p.Failed {
		c.note("… %s", p.Step)
	}
	for _, line := range p.Tail {
		c.note("  %s", quoted(line))
	}
}

// event takes one event of the broker.
func (c *conversation) event(ev broker.Event, more bool) error {
	if !more {
		return errors.New("the program no longer hears of what waits")
	}
	switch {
	case ev.Progress != nil:
		c.progress(*ev.Progress)
	case ev.Escalation != nil:
		return c.ask(*ev.Escalation)
	case ev.Resolution != nil:
		if _, mine := c.waiting[ev.Resolution.Number]; mine && ev.Resolution.By != "start" {
			c.note("call %d: %s by %s", ev.Resolution.Number, ev.Resolution.Outcome, plain(ev.Resolution.By))
		}
		delete(c.waiting, ev.Resolution.Number)
	case ev.Notice != nil:
		c.note("%s", quoted(ev.Notice.Text))
	case ev.Session != nil && ev.Session.ID == c.session.ID && ev.Session.State == broker.StateDead:
		return fmt.Errorf("the session has ended: %s", quoted(ev.Session.Reason))
	}
	return nil
}

// ask shows a call that waits, and how to decide it.
func (c *conversation) ask(e broker.Escalation) error {
	_, again := c.waiting[e.Number]
	c.waiting[e.Number] = e
	if again {
		return nil // one more like it
	}
	c.note("call %d waits for you:", e.Number)
	if err := printPending(c.notes, []waitingCall{{Escalation: e}}); err != nil {
		return err
	}
	if c.lines != nil {
		c.note("decide it by /approve %d or /deny %d [reason]", e.Number, e.Number)
	} else {
		c.note("decide it from another terminal: ironcurtain-mux approve %s", e.ID)
	}
	return nil
}

// note writes a line that is no answer.
func (c *conversation) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.notes, format+"\n", args...)
}

// shown is an agent's text as it goes to the output: unchanged into a file or a
// pipe, without anything that moves a cursor onto a terminal.
func (c *conversation) shown(text string) string {
	if !c.terminal {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
