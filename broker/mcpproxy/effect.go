package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Previewer works out what a call would do; *preview.Previewer is one.
type Previewer interface {
	Effect(ctx context.Context, c policy.Call) *preview.Effect
	// Fingerprint returns the fingerprint of the call's present effect.
	Fingerprint(ctx context.Context, c policy.Call) string
}

// maxAsked is how often a person is asked again about one call because its effect changed
// after the approval.
const maxAsked = 3

// previewed returns the judged call for the previewer.
func (c *call) previewed() policy.Call {
	return policy.Call{Server: c.target.server, Tool: c.target.tool, Arguments: c.verdict.Arguments}
}

// stillShown lets an approved call go on if its effect is the one that was shown. When a
// file, a branch or a remote has changed meanwhile, it asks the person again, and shows the
// change and the new effect.
func (c *call) stillShown(ctx context.Context) json.RawMessage {
	if c.effect == nil {
		return nil
	}
	now, err := c.fingerprint(ctx)
	switch {
	case err != nil:
		return c.withdrawn(ctx, err)
	case now == c.effect.Fingerprint:
		return nil
	}
	c.asked++
	if c.asked >= maxAsked {
		return c.deny(ctx, ruleChanged, fmt.Sprintf("it was approved %d times, and each time what it would do had changed since it was shown", maxAsked))
	}
	r := c.record
	r.Decision, r.Rule, r.Reason = audit.Noted, ruleChanged, "it was approved, but what it would do changed since it was shown; asked again"
	if err := c.append(ctx, r); err != nil {
		return c.deny(ctx, ruleAudit, "what happened to it could not be recorded: "+err.Error())
	}
	c.again = true
	c.outcome.is(approval.EndRefused, "what it would do changed since it was shown; it waits again")
	c.tellOutcome()
	return c.escalate(ctx)
}

// fingerprint returns the fingerprint of the call's present effect.
func (c *call) fingerprint(ctx context.Context) (string, error) {
	if err := c.proxy.room.showing.take(ctx, c.proxy.waits); err != nil {
		return "", err
	}
	defer c.proxy.room.showing.give()
	return c.proxy.config.Preview.Fingerprint(ctx, c.previewed()), nil
}

// show computes the effect that the person will see.
func (c *call) show(ctx context.Context) error {
	if c.proxy.config.Preview == nil {
		return nil
	}
	if err := c.proxy.room.showing.take(ctx, c.proxy.waits); err != nil {
		return err
	}
	defer c.proxy.room.showing.give()
	if c.effect = c.proxy.config.Preview.Effect(ctx, c.previewed()); c.effect != nil {
		c.effect.Changed = c.again
	}
	return nil
}
