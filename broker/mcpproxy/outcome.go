package mcpproxy

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
)

// outcome is the end of a call as it is reported to the person who decided about it.
type outcome struct {
	item     string // of the queue; empty: nobody decided about this very call
	approved bool
	state    approval.EndState
	reason   string
}

func (o *outcome) is(state approval.EndState, reason string) { o.state, o.reason = state, reason }

// refused notes that the call is refused. A person who denied the call knows that, but not
// that the refusal could not be recorded.
func (o *outcome) refused(reason string, unrecorded error) {
	if !o.approved {
		reason = ""
	}
	if unrecorded != nil {
		reason = strings.TrimPrefix(reason+"; ", "; ") + "this could not be recorded: " + unrecorded.Error()
	}
	o.is(approval.EndRefused, strings.TrimPrefix(reason, "it was approved, but "))
}

// tellOutcome reports how a decided call ended.
func (c *call) tellOutcome() {
	if c.outcome.item == "" {
		return
	}
	c.proxy.config.Approvals.Ended(c.outcome.item, c.outcome.state, c.proxy.redact.Load().Known(c.outcome.reason))
	c.outcome = outcome{}
}

// firstText is the first text of a result.
func firstText(result json.RawMessage) string {
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	text := ""
	if json.Unmarshal(result, &r) == nil && len(r.Content) > 0 {
		text = r.Content[0].Text
	}
	return cmp.Or(text, "the tool answered with an error")
}
