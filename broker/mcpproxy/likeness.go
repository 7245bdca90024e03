package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
)

// likeness is equal for calls of one tool that a rule escalates for the same places: for
// paths the directory, for addresses the host. A flood of such calls is one question that
// is asked many times.
func (c *call) likeness() string {
	var places []string
	for _, v := range c.verdict.Values {
		place := v.Text
		switch {
		case v.Origin != "":
			place = v.Origin
		case path.IsAbs(v.Text):
			place = path.Dir(v.Text)
		}
		places = append(places, string(v.Role)+" "+place)
	}
	slices.Sort(places)
	raw, err := json.Marshal(append([]string{c.target.server, c.target.tool, c.verdict.Rule}, slices.Compact(places)...))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// collapse refuses a call because too many ask, and counts it where a person sees the
// number.
func (c *call) collapse(ctx context.Context) json.RawMessage {
	if !c.proxy.config.Approvals.Collapse(c.proxy.config.Session, c.likeness()) {
		c.proxy.announce(Activity{Kind: CallUnasked, Server: c.target.server, Tool: c.target.tool})
	}
	return c.deny(ctx, ruleCrowded, fmt.Sprintf("too many calls asked for a person within a minute: at most %d, and %d that are much the same",
		c.proxy.limits.Escalations, c.proxy.limits.Alike))
}
