package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// isCommand tells a command from a task. "//" at a task's start stands for one
// slash.
func isCommand(line string) bool {
	return strings.HasPrefix(line, "/") && !strings.HasPrefix(line, "//")
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
	return fmt.Errorf("/%s: no such command; there are /approve [N], /deny [N] [REASON], /budget [+5], /logs and /quit", safeText(name))
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
	r, err := c.broker.Decide(ctx, broker.Decision{ID: e.ID, Digest: e.Digest, Effect: e.Fingerprint(), Approve: approve, Reason: reason, By: "start"})
	if err == nil {
		delete(c.waiting, n) // a script's next line is no decision any more
	}
	if err == nil && !r.Won {
		c.note("call %d was decided already: %s by %s", n, r.Outcome, safeName(r.By))
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
