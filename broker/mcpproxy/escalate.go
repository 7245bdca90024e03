package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// escalate gets a decision about an escalated call: from a grant, else from an order that the
// person has just typed, else from the person. It returns nil with the record filled in when the
// call may be carried out, and otherwise the refusal for the agent.
func (c *call) escalate(ctx context.Context) json.RawMessage {
	if c.proxy.config.Approvals == nil {
		c.record.DecidedBy = "configuration"
		return c.refuseAs(ctx, audit.EscalatedDenied, c.verdict.Rule, "ESCALATION REQUIRED: "+c.name()+
			" needs a person's approval by rule "+c.verdict.Rule+" ("+c.verdict.Reason+"), and nobody is there to give it. "+
			"DENIED: do not repeat the call.", "nobody can be asked")
	}
	if c.granted(ctx) {
		if err := c.planWithLogin(ctx); err != nil {
			return c.refuseFutile(ctx, err)
		}
		return nil
	}
	if c.verdict.Decision == policy.Deny { // by the second judgment, which granted made
		return c.deny(ctx, c.verdict.Rule, c.verdict.Reason)
	}
	if c.proxy.rate.crowded(c.likeness()) {
		return c.collapse(ctx)
	}
	res, err := c.ask(ctx)
	if why := context.Cause(ctx); err != nil && why != nil {
		return c.withdrawn(ctx, why)
	}
	if futile := (*futileError)(nil); errors.As(err, &futile) {
		return c.refuseFutile(ctx, futile)
	}
	if err != nil {
		return c.refuseAs(ctx, audit.EscalatedDenied, c.verdict.Rule, "ESCALATION DENIED: "+c.name()+
			" needs a person's approval, and the person could not be asked: "+err.Error()+". Do not repeat the call now.", err.Error())
	}
	c.outcome = outcome{item: res.ID, approved: res.Outcome == approval.Approved}
	c.record.EscalationID, c.record.DecidedBy, c.record.Client = res.ID, res.By, res.Client
	c.record.WaitMs = res.Waited.Milliseconds()
	c.record.Detail = evidence(res)
	switch res.Outcome {
	case approval.Approved:
		if refusal := c.judgeAgain(ctx, approvedBy(res)); refusal != nil {
			return refusal
		}
		return c.stillShown(ctx)
	case approval.Expired:
		return c.refuseAs(ctx, audit.EscalatedExpired, c.verdict.Rule, fmt.Sprintf(
			"ESCALATION EXPIRED: nobody decided about %s within %v. DENIED: do not repeat the call; tell the person what you need.",
			c.name(), res.Waited.Round(time.Second)), "nobody answered in time")
	case approval.Withdrawn:
		return c.refuseAs(ctx, audit.EscalatedWithdrawn, c.verdict.Rule, "ESCALATION WITHDRAWN: "+c.name()+
			" was not carried out: "+res.Reason+".", res.Reason)
	case approval.Denied:
	}
	text := "ESCALATION DENIED: a person denied " + c.name() + "."
	if res.Reason != "" {
		text += " They said: " + res.Reason + "."
	}
	return c.refuseAs(ctx, audit.EscalatedDenied, c.verdict.Rule, text+" Do not repeat the call; choose another way or ask them.", res.Reason)
}

// ask computes the call's effect and gets an answer: from an order that the person has just
// typed, else by waiting for the person. It sends progress to an agent that wants it.
func (c *call) ask(ctx context.Context) (approval.Resolution, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.agent.input, func() { cancel(errLeft) })
	defer stop()
	if c.progressToken != nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.reportWaiting(ctx)
		}()
		defer func() {
			cancel(nil)
			<-done
		}()
	}
	if err := c.planWithLogin(ctx); err != nil {
		return approval.Resolution{}, &futileError{err}
	}
	if err := c.show(ctx); err != nil {
		return approval.Resolution{}, err
	}
	c.noteLogin()
	if c.effect != nil && c.effect.Fails != "" {
		return approval.Resolution{}, &futileError{errors.New(c.effect.Fails)}
	}
	if !c.hold.Resize(c.size()) {
		return approval.Resolution{}, errNoRoom
	}
	e := c.escalation()
	if orders := c.proxy.config.Orders; orders != nil {
		if res, ordered := orders.Ordered(&e); ordered {
			return res, nil
		}
	}
	defer c.startAhead()()
	c.proxy.announce(Activity{Kind: WaitBegan, Server: c.target.server, Tool: c.target.tool})
	defer c.proxy.announce(Activity{Kind: WaitEnded, Server: c.target.server, Tool: c.target.tool})
	defer c.waitsForPerson()()
	switch {
	case !c.proxy.config.Tickets:
	case c.program == nil:
		e.Ticket = c.id
		c.sayWaiting()
	case c.program.journal.Wait() == nil: // its client has the ticket of the program
		e.Ticket = c.id
	}
	res, err := c.proxy.config.Approvals.Ask(ctx, e)
	c.asShown(res)
	return res, err
}

// escalation returns the call's item for the queue.
func (c *call) escalation() approval.Escalation {
	var from *approval.ProgramCall
	if c.program != nil {
		from = &approval.ProgramCall{ID: c.program.call.id, Index: c.made.Index, Line: c.made.Line, Source: c.made.Source}
	}
	return approval.Escalation{
		Program: from,
		Session: c.proxy.config.Session, Plane: audit.PlaneTool,
		Server: c.target.server, Tool: c.target.tool,
		Arguments: c.verdict.Arguments, Requested: c.arguments,
		Rule: c.verdict.Rule, Reason: c.verdict.Reason, Digest: c.verdict.Digest,
		Timeout:  c.proxy.config.EscalationTimeout,
		Offers:   grant.Offers(c.grantable()),
		Call:     c.grantable(),
		Likeness: c.likeness(),
		Effect:   c.effect,
	}
}

// evidence returns what the record of a decision contains besides who made it.
func evidence(res approval.Resolution) map[string]any {
	if res.Remembered == "" && len(res.Evidence) == 0 && !res.Restored {
		return nil
	}
	detail := maps.Clone(res.Evidence)
	if detail == nil {
		detail = map[string]any{}
	}
	if res.Remembered != "" {
		detail["remembered"] = res.Remembered
	}
	if res.Restored { // the person was first asked by a process that was killed
		detail["askedBeforeRestart"], detail["answerKept"] = true, res.Kept
	}
	return detail
}

// reportWaiting tells the agent every few seconds that the call still waits.
func (c *call) reportWaiting(ctx context.Context) {
	began := time.Now()
	total := c.proxy.config.EscalationTimeout
	if total <= 0 {
		total = approval.DefaultTimeout
	}
	tick := time.NewTicker(c.proxy.limits.Progress)
	defer tick.Stop()
	for {
		waited := time.Since(began)
		c.agent.progress(c.progressToken, math.Round(waited.Seconds()), total.Seconds(),
			fmt.Sprintf("waiting for a person's decision (%ds)", int(waited.Seconds())))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// judgeAgain judges an approved call again, because minutes may have passed, and the call
// must still do what the person saw.
func (c *call) judgeAgain(ctx context.Context, as audit.Decision) json.RawMessage {
	seen, record := c.verdict, c.record
	c.judge(ctx)
	now := c.verdict
	c.record.EscalationID, c.record.WaitMs = record.EscalationID, record.WaitMs
	c.record.DecidedBy, c.record.Client = record.DecidedBy, record.Client
	c.record.Detail = record.Detail
	if now.Decision != policy.Allow && now.Decision != policy.Escalate {
		return c.deny(ctx, now.Rule, "it was approved, but by now "+now.Reason)
	}
	if !same(seen, now) {
		return c.deny(ctx, ruleChanged, "it was approved, but what it would do changed while it waited")
	}
	c.record.Decision = as
	return nil
}

// approvedBy returns the audit decision for an approval.
func approvedBy(res approval.Resolution) audit.Decision {
	switch {
	case res.Grant > 0:
		return audit.Granted
	case res.Automatic:
		return audit.AutoApproved
	}
	return audit.EscalatedApproved
}

// grantable returns the judged call for grants.
func (c *call) grantable() grant.Call {
	return grant.CallOf(c.proxy.config.Session, c.target.server, c.target.tool, c.verdict)
}

// granted reports whether a grant covers the escalated call. It judges the call once more, and the
// grant must still be valid and match that judgment. If anything has changed, it reports false, and
// the person is asked. The call was judged a moment ago, so the files are not fetched again.
func (c *call) granted(ctx context.Context) bool {
	grants := c.proxy.config.Grants
	if grants == nil {
		return false
	}
	found, ok := grants.Match(c.grantable())
	if !ok {
		return false
	}
	seen := c.verdict
	c.judgeHere(ctx, nil)
	if c.verdict.Decision != policy.Escalate || !same(seen, c.verdict) {
		return false
	}
	used, err := grants.Use(found.Number, c.grantable())
	if err != nil {
		return false
	}
	c.record.Decision, c.record.DecidedBy, c.record.Client, c.record.EscalationID = audit.Granted, used.By, used.Client, used.Escalation
	c.record.Detail = used.Evidence()
	c.proxy.announce(Activity{Kind: CallGranted, Server: c.target.server, Tool: c.target.tool, Number: used.Number})
	return true
}
