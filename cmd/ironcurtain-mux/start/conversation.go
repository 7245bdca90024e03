package start

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// taskHost are the methods of the broker that a conversation needs.
type taskHost interface {
	Turn(ctx context.Context, id broker.SessionID, task broker.Task) (broker.Turn, error)
	Decide(ctx context.Context, d broker.Decision) (broker.Resolution, error)
	Budgets(ctx context.Context) (broker.Budgets, error)
	RaiseBudget(ctx context.Context, id broker.SessionID, by string) (broker.Budget, error)
}

// conversation gives tasks to one session's agent and lets a person decide, line by line.
// Only run's goroutine uses its fields, except those below mu.
type conversation struct {
	broker   taskHost
	session  broker.Session
	client   broker.Client
	home     string
	events   <-chan broker.Event
	again    func(context.Context) (<-chan broker.Event, []broker.Escalation, error) // subscribes again when events was closed; may be nil
	lines    <-chan typedLine                                                        // from a person or a script; nil: there is no input
	unread   func() error                                                            // why lines ended before the input did, or nil
	person   bool                                                                    // the input is a terminal
	prompt   *promptLine                                                             // where the person types; nil: the terminal itself edits the line
	terminal bool                                                                    // the output is a terminal
	out      io.Writer                                                               // answers
	notes    io.Writer                                                               // everything else
	asJSON   bool
	limit    time.Duration     // of a task; 0: none
	waiting  map[int]shownCall // by number
	trouble  string            // of the container engine, as last printed

	mu     sync.Mutex
	record *audit.Follower
	calls  []judgedCall // judged since the last task began
}

// turnResult is what the broker's Turn returned for a task.
type turnResult struct {
	turn broker.Turn
	err  error
}

// errLeave ends a conversation without an error.
var errLeave = errors.New("leave")

// errInterrupted is the end of a task that the person has interrupted.
var errInterrupted = errors.New("the task was interrupted; its changes until then remain")

// maxInput is the longest line of the input, in bytes.
const maxInput = 1 << 20

// typedLine is a line of the input and the time when it was read.
type typedLine struct {
	text  string
	at    time.Time
	spans []receipt.Span // the parts that a person typed at a terminal; nil: not known
	ctrlC bool           // not a line: the person has pressed Ctrl-C
}

// cut returns the line from byte from to byte to.
func (l typedLine) cut(from, to int) typedLine {
	var spans []receipt.Span
	for _, s := range l.spans {
		if s.Start, s.End = max(s.Start, from)-from, min(s.End, to)-from; s.Start < s.End {
			spans = append(spans, s)
		}
	}
	return typedLine{text: l.text[from:to], at: l.at, spans: spans}
}

// trim returns the line without white space around it.
func (l typedLine) trim() typedLine {
	from := len(l.text) - len(strings.TrimLeftFunc(l.text, unicode.IsSpace))
	return l.cut(from, max(from, len(strings.TrimRightFunc(l.text, unicode.IsSpace))))
}

// shownCall is a waiting call and the time when it was shown.
type shownCall struct {
	broker.Escalation
	at time.Time
}

// readLines sends the lines of the input until it ends. When lines was closed before the
// end of the input, unread returns why. The goroutine may still block in a read after ctx
// has ended; the program ends then.
func readLines(ctx context.Context, in io.Reader) (lines <-chan typedLine, unread func() error) {
	out := make(chan typedLine, 16) // must-deliver; buffered, so that lines are read as soon as they are typed
	var failed error
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxInput)
		for scanner.Scan() {
			select {
			case out <- typedLine{text: scanner.Text(), at: time.Now()}:
			case <-ctx.Done():
				return
			}
		}
		if failed = scanner.Err(); errors.Is(failed, bufio.ErrTooLong) {
			failed = fmt.Errorf("a line is longer than %d bytes", maxInput)
		}
	}()
	return out, func() error { return cli.Fail("read tasks", failed, "") }
}

// run gives the agent the one task of the command line, or every task that is typed.
func (c *conversation) run(ctx context.Context, task typedLine) error {
	c.record = audit.Follow(c.auditPath(), 0)
	_ = c.record.Next(func(audit.Line) error { return nil }) // skips the records of a resumed session
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { c.follow(following) })
	defer follower.Wait()
	defer stop()
	if task.text != "" {
		return c.runTask(ctx, task)
	}
	var tasks tally
	leaving := false // the person has pressed Ctrl-C, and nothing else since then
	for {
		c.invite()
		select {
		case line, more := <-c.lines:
			if !more {
				return errors.Join(c.unread(), tasks.outcome())
			}
			if line.ctrlC {
				if leaving {
					return tasks.outcome()
				}
				c.note("Ctrl-C again ends the session")
				leaving = true
				continue
			}
			line, leaving = line.trim(), false
			err := c.line(ctx, line)
			if errors.Is(err, errLeave) {
				return tasks.outcome()
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if line.text != "" && !isCommand(line.text) {
				tasks.add(err)
			}
			if codeOf(err) == cli.ExitTimedOut {
				return err // the agent may still have work going on in the container
			}
			if err != nil {
				c.note("%v", err)
			}
		case ev, more := <-c.events:
			if err := c.event(ctx, ev, more); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// line handles one line between tasks: a command or a task.
func (c *conversation) line(ctx context.Context, line typedLine) error {
	switch {
	case line.text == "":
		return nil
	case isCommand(line.text):
		return c.command(ctx, line)
	}
	if strings.HasPrefix(line.text, "/") {
		line = line.cut(1, len(line.text))
	}
	return c.runTask(ctx, line)
}

// runTask gives the agent a task. Until the agent answers, it shows waiting calls and
// accepts decisions.
func (c *conversation) runTask(ctx context.Context, task typedLine) error {
	c.catchUp()
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	turning, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupted := false
	done := make(chan turnResult, 1)
	go func() {
		t, err := c.broker.Turn(turning, c.session.ID, broker.Task{Text: task.text, Spans: task.spans, Client: c.client, Limit: c.limit, Files: c.asJSON})
		done <- turnResult{t, err}
	}()
	inputEnded := false
	for {
		lines := c.lines
		if inputEnded || !c.person && len(c.waiting) == 0 {
			lines = nil // a script's next line is its next task, unless a call waits
		}
		select {
		case e := <-done:
			if interrupted && e.err != nil {
				e.err = errInterrupted
			}
			err, ended := c.answer(task.text, e), c.catchUpEvents(ctx)
			if e.err != nil && errors.Is(ended, errEnded) {
				err = nil // the end is the reason
			}
			return errors.Join(err, ended, c.askAgain())
		case ev, more := <-c.events:
			if err := c.event(ctx, ev, more); err != nil {
				cancel()
				<-done
				return err
			}
		case line, more := <-lines:
			if !more {
				inputEnded = true // the task continues
				continue
			}
			if line.ctrlC && !interrupted {
				interrupted = true
				cancel()
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

// lineWhileBusy handles a line that is typed while the agent works.
func (c *conversation) lineWhileBusy(ctx context.Context, line typedLine) error {
	switch line = line.trim(); {
	case line.ctrlC:
		return errLeave
	case line.text == "":
		return nil
	case strings.HasPrefix(line.text, "/"):
		return c.command(ctx, line)
	}
	return errors.New("the agent is working; Ctrl-C interrupts it")
}
