package mcpproxy

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// grantable returns the judged call for grants.
func (c *call) grantable() grant.Call {
	return grant.CallOf(c.proxy.config.Session, c.target.server, c.target.tool, c.verdict)
}

// granted reports whether a grant covers the escalated call. It judges the call once more,
// and the grant must still be valid and match that judgment. If anything has changed, a
// person is asked.
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
