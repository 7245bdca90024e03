package start

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/decisions"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// isCommand reports whether a line is a command and not a task. A task that begins with a
// slash is typed with two.
func isCommand(line string) bool {
	return strings.HasPrefix(line, "/") && !strings.HasPrefix(line, "//")
}

// commandHelp is what /help prints.
const commandHelp = `/approve N             approve call N
/deny N [REASON]       deny call N; the agent gets the reason
/budget [+5]           show what this session has used, or give it 5 dollars more
/logs                  the newest records of this session
/help                  this list
/quit                  end the session; it can be resumed
Ctrl-C                 interrupt the task; again: end the session
Every other line is a task. One that begins with a slash is typed with two.`

// command runs a line that begins with a slash.
func (c *conversation) command(ctx context.Context, line typedLine) error {
	name, args, _ := strings.Cut(strings.TrimPrefix(line.text, "/"), " ")
	args = strings.TrimSpace(args)
	switch strings.ToLower(name) {
	case "quit", "exit":
		return errLeave
	case "approve":
		return c.decide(ctx, line.at, broker.Decision{Approve: true}, args)
	case "deny":
		number, reason, _ := strings.Cut(args, " ")
		return c.decide(ctx, line.at, broker.Decision{Reason: reason}, number)
	case "budget":
		return c.budget(ctx, args)
	case "logs":
		return c.logs()
	case "help", "?":
		c.note("%s", commandHelp)
		return nil
	}
	return fmt.Errorf("/%s: no such command; /help lists all commands%s", cli.SafeText(name), text.DidYouMean("/"+name, []string{"/approve", "/deny", "/budget", "/logs", "/help", "/quit"}))
}

// decide answers the waiting call with that number; typed is when the line was typed. The
// number is required, because another call may wait than when the person began the line. The
// call must have been shown for a moment, so that the person can have read it.
func (c *conversation) decide(ctx context.Context, typed time.Time, d broker.Decision, number string) error {
	if len(c.waiting) == 0 {
		return errors.New("no call waits")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(number, "#"))
	if err != nil {
		return fmt.Errorf("name the call by its number; waiting: %s", c.numbers())
	}
	e, waits := c.waiting[n]
	switch {
	case !waits:
		return fmt.Errorf("call %d does not wait; waiting: %s", n, c.numbers())
	case c.person && typed.Sub(e.at) < approval.LeastShown:
		return fmt.Errorf("call %d has only just appeared; read it, then type the line again", n)
	}
	d.ID, d.Digest, d.Effect, d.By, d.Client = e.ID, e.Digest, e.Fingerprint(), "start", c.client
	r, err := c.broker.Decide(ctx, d)
	if err == nil {
		delete(c.waiting, n) // so that a script's next line is a task
	}
	if err == nil && !r.Won {
		c.note("call %d was decided already: %s by %s", n, r.Outcome, cli.SafeName(r.Client.Decider(r.By)))
	}
	return err
}

// numbers lists the calls that wait.
func (c *conversation) numbers() string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(c.waiting)) {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, ", ")
}

// budget prints what the session has used, or raises its budget.
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
		c.note("%s", decisions.RecordText(l))
	}
	return nil
}
