package mcpproxy

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// grantable is the judged call as grants see it.
func (c *call) grantable() grant.Call {
	return grant.CallOf(c.proxy.config.Session, c.target.server, c.target.tool, c.verdict)
}

// granted tells whether a person allowed the escalated call beforehand. What
// was matched is judged once more, and the grant must still be in force and
// match that judgment; a call for which anything has changed asks a person.
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
	c.judge(ctx)
	if c.verdict.Decision != policy.Escalate || !same(seen, c.verdict) {
		return false
	}
	used, err := grants.Use(found.Number, c.grantable())
	if err != nil {
		return false
	}
	c.record.Decision, c.record.DecidedBy, c.record.EscalationID = audit.Granted, used.By, used.Escalation
	c.record.Detail = used.Evidence()
	c.proxy.announce(Activity{Kind: CallGranted, Server: c.target.server, Tool: c.target.tool, Number: used.Number})
	return true
}
