package start

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/decisions"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// answer prints the result of a task.
func (c *conversation) answer(task string, e turnResult) error {
	c.catchUp()
	if e.err != nil {
		return e.err
	}
	c.mu.Lock()
	calls := slices.Clone(c.calls)
	c.mu.Unlock()
	if err := c.print(task, e.turn, calls); err != nil {
		return err
	}
	return outcomeOf(e.turn, calls)
}

// invite prints the prompt for a task.
func (c *conversation) invite() {
	switch {
	case c.prompt != nil:
		c.prompt.invite()
	case c.person:
		fmt.Fprint(c.notes, "> ")
	}
}

// event handles one event of the broker.
func (c *conversation) event(ctx context.Context, ev broker.Event, more bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !more {
		return c.subscribe(ctx)
	}
	if of := sessionOf(ev); of != "" && of != c.session.ID {
		return nil
	}
	switch {
	case ev.Progress != nil:
		c.progress(*ev.Progress)
	case ev.Escalation != nil:
		return c.ask(*ev.Escalation)
	case ev.Resolution != nil:
		if _, mine := c.waiting[ev.Resolution.Number]; mine && ev.Resolution.By != "start" {
			c.note("call %d: %s by %s", ev.Resolution.Number, ev.Resolution.Outcome, cli.SafeName(ev.Resolution.Client.Decider(ev.Resolution.By)))
		}
		delete(c.waiting, ev.Resolution.Number)
	case ev.Ending != nil && !ev.Ending.Expected():
		c.note("call %d: %s", ev.Ending.Number, cli.SafeText(ev.Ending.Text()))
		if ev.Ending.Reason != "" {
			return c.askAgain()
		}
	case ev.AutoApproval != nil:
		a := ev.AutoApproval
		c.note("call %d was approved automatically: %s/%s, by %s", a.Call.Number, cli.SafeName(a.Call.Server), cli.SafeName(a.Call.Tool), cli.SafeText(a.Quote))
	case ev.Notice != nil:
		c.note("%s", cli.SafeText(ev.Notice.Text))
	case ev.Session != nil && ev.Session.ID == c.session.ID:
		return c.changed(*ev.Session)
	}
	return nil
}

// sessionOf returns the session that an event is about; empty: none in particular.
func sessionOf(ev broker.Event) broker.SessionID {
	switch {
	case ev.Progress != nil:
		return ev.Progress.Session
	case ev.Escalation != nil:
		return ev.Escalation.Session
	case ev.Resolution != nil:
		return ev.Resolution.Session
	case ev.Ending != nil:
		return ev.Ending.Session
	case ev.AutoApproval != nil:
		return ev.AutoApproval.Call.Session
	case ev.Notice != nil:
		return ev.Notice.Session
	}
	return ""
}

// subscribe subscribes to the broker's events again, after the broker has closed the channel because
// this conversation was too slow.
func (c *conversation) subscribe(ctx context.Context) error {
	if c.again == nil {
		return errors.New("the broker's events have ended")
	}
	events, waiting, err := c.again(ctx)
	if err != nil {
		return fmt.Errorf("follow the broker's events: %w", err)
	}
	c.events = events
	for _, e := range waiting {
		if e.Session == c.session.ID {
			if err := c.ask(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUpEvents handles the events that have arrived, so that the end of every decided
// call is printed, even at the end of the conversation.
func (c *conversation) catchUpEvents(ctx context.Context) error {
	for {
		select {
		case ev, more := <-c.events:
			if !more {
				return nil // the next call of event subscribes again
			}
			if err := c.event(ctx, ev, more); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// errEnded is the end of a conversation whose session has ended.
var errEnded = errors.New("the session has ended")

// changed prints when the agent cannot be reached, and when it can be again. It ends the
// conversation when the session has ended.
func (c *conversation) changed(s broker.Session) error {
	if s.State == broker.StateDead {
		return fmt.Errorf("%w: %s", errEnded, cli.SafeText(s.Reason))
	}
	switch before := c.trouble; {
	case s.Trouble == before:
		return nil
	case s.Trouble != "":
		c.note("%s", s.Trouble)
	default:
		c.note("the container engine answers again")
	}
	c.trouble = s.Trouble
	return nil
}

// progress prints each step of the start when it begins, and the builder's last lines when
// it fails.
func (c *conversation) progress(p broker.Progress) {
	if p.Elapsed == 0 && !p.Done && !p.Failed {
		c.note("… %s", p.Step)
	}
	for _, line := range p.Tail {
		c.note("  %s", cli.SafeText(line))
	}
}

// ask prints a waiting call and how to decide it.
func (c *conversation) ask(e broker.Escalation) error {
	if before, again := c.waiting[e.Number]; again {
		c.waiting[e.Number] = shownCall{e, before.at}
		return nil // an equal call was added to it
	}
	c.note("call %d waits for you:", e.Number)
	if err := decisions.PrintPending(c.notes, []decisions.WaitingCall{{Escalation: e}}); err != nil {
		return err
	}
	c.waiting[e.Number] = shownCall{e, time.Now()}
	if c.lines != nil {
		c.note("decide it with /approve %d or /deny %d [reason]", e.Number, e.Number)
	} else {
		c.note("decide it from another terminal: ironcurtain-mux approve %s", e.ID)
	}
	return nil
}

// askAgain prints the waiting calls again below an agent's answer or the reason for a
// failure, because such a text may look like a question about one of them.
func (c *conversation) askAgain() error {
	if !c.person || c.lines == nil {
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(c.waiting)) {
		e := c.waiting[n].Escalation
		delete(c.waiting, n)
		if err := c.ask(e); err != nil {
			return err
		}
	}
	return nil
}

// follow prints each judged call when its record is in the audit.
func (c *conversation) follow(ctx context.Context) {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		c.catchUp()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// catchUp prints the calls that were recorded since the last look. The record of a call is
// in the audit before the answer of its task.
func (c *conversation) catchUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.record.Next(func(l audit.Line) error { // the file does not exist at first
		c.judged(l)
		return nil
	})
}

// judged adds and prints one record about a tool call. The caller holds the lock.
func (c *conversation) judged(l audit.Line) {
	if l.Plane != audit.PlaneTool || l.Tool == "" || l.Decision == audit.Done {
		return
	}
	c.calls = append(c.calls, judgedCall{
		Plane: string(l.Plane), Server: l.Server, Tool: l.Tool, Decision: string(l.Decision), Rule: l.Rule,
		decision: l.Decision, by: l.DecidedBy, arguments: string(l.Arguments), reason: l.Reason, waitMs: l.WaitMs,
	})
	if !c.asJSON {
		const room = 80
		fmt.Fprintf(c.notes, "  %s/%s %s %s\n", cli.SafeName(l.Server), cli.SafeName(l.Tool), cli.SafeName(string(l.Decision)), text.Clip(string(jsonx.ASCII(l.Arguments)), room))
	}
}

func (c *conversation) auditPath() string {
	return filepath.Join(c.home, "sessions", string(c.session.ID), "audit.jsonl")
}

// note prints a line that is not part of an answer.
func (c *conversation) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.notes, format+"\n", args...)
}

// shown returns an agent's text for the output: unchanged for a file or a pipe, without
// control sequences for a terminal.
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

// print prints the outcome of a task.
func (c *conversation) print(task string, t broker.Turn, calls []judgedCall) error {
	if !c.asJSON {
		if t.Failure != "" && t.Text == "" {
			return nil // the failure becomes the error
		}
		_, err := fmt.Fprintln(c.out, strings.TrimSuffix(c.shown(t.Text), "\n"))
		return err
	}
	a := TaskResult{Session: c.session.ID, Agent: c.session.Agent, Task: task, Turn: t, Calls: calls, Decisions: []decidedCall{}}
	if a.FilesChanged == nil && a.FilesMissed == "" {
		a.FilesChanged = []broker.FileChange{}
	}
	for _, call := range calls {
		if call.by != "" {
			a.Decisions = append(a.Decisions, decidedCall{call.Server, call.Tool, call.Decision, call.by, call.reason, call.waitMs})
		}
	}
	if all, err := c.broker.Budgets(context.Background()); err == nil {
		for _, one := range all.Sessions {
			if one.Session == c.session.ID {
				a.Usage = &one.Used
			}
		}
	}
	return cli.PrintJSON(c.out, a)
}

// TaskResult is a task's outcome as JSON.
type TaskResult struct {
	Session broker.SessionID `json:"session"`
	Agent   string           `json:"agent"`
	Task    string           `json:"task"`
	broker.Turn
	Calls     []judgedCall  `json:"calls"`           // the agent's calls during the task, from the audit
	Decisions []decidedCall `json:"decisions"`       // the calls among them that somebody decided
	Usage     *broker.Usage `json:"usage,omitempty"` // of the whole session; "used" is the task's
}

// decidedCall is a call that a person, a grant or an order decided.
type decidedCall struct {
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Decision string `json:"decision"`
	By       string `json:"by"`
	Reason   string `json:"reason,omitempty"`
	WaitedMs int64  `json:"waitedMs"`
}

// judgedCall is one judged call.
type judgedCall struct {
	Plane    string `json:"plane"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Decision string `json:"decision"`
	Rule     string `json:"rule,omitempty"`

	decision  audit.Decision
	by        string
	arguments string
	reason    string
	waitMs    int64
}
