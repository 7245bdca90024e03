package mcpproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
)

// ending says how a call ended that was let through.
type ending struct {
	began    time.Time // when it was let through
	ended    time.Time
	decision audit.Decision // empty when it was not let through
	outcome  audit.Outcome
	reason   string         // of a failure, as the agent was told
	bytes    int            // of the result
	detail   map[string]any // of a program: what became of its calls; and what did not arrive in the agent's workspace
}

// errLate is the error of a call that a server has worked on for too long.
type errLate struct{ text string }

func (e *errLate) Error() string { return e.text }

// answered notes that the call has its result.
func (c *call) answered(result json.RawMessage, toolFailed bool) {
	c.ending.ended = time.Now()
	c.ending.decision, c.ending.outcome, c.ending.bytes = audit.Done, audit.Answered, len(result)
	c.outcome.is(approval.EndDone, "")
	if toolFailed {
		c.ending.outcome = audit.ToolError
		c.outcome.is(approval.EndFailed, firstText(result))
	}
}

// failure notes why the call has no result.
func (e *ending) failure(err error, told string) {
	e.ended = time.Now()
	e.decision, e.outcome, e.reason = audit.Failed, audit.Refused, told
	var down *DownError
	var late *errLate
	switch {
	case errors.As(err, &down):
		e.outcome = audit.ServerDied
	case errors.As(err, &late):
		e.outcome = audit.TimedOut
	case errors.Is(err, errCancelled), errors.Is(err, errLeft), codemode.EndedWith(err):
		e.outcome = audit.Cancelled
	case errors.Is(err, errUnreadable):
		e.outcome = audit.Unreadable
	}
}

// finish records how the call ended, after its answer was sent. Nothing waits for this
// record, because nothing is decided by it. A log that cannot be written reports that by
// itself.
func (c *call) finish() {
	c.hold.free()
	c.answer.free()
	if c.ending.decision == "" {
		return
	}
	_ = c.proxy.config.Audit.Post(context.Background(), c.ofProgram(audit.Record{
		Plane: audit.PlaneTool, Decision: c.ending.decision, Session: c.record.Session, Call: c.id,
		Server: c.record.Server, Tool: c.record.Tool, Reason: c.ending.reason, Sandboxed: c.record.Sandboxed,
		Outcome: c.ending.outcome, ResultBytes: c.ending.bytes,
		Detail:     c.ending.detail,
		DurationMs: float64(c.ending.ended.Sub(c.ending.began).Microseconds()) / 1000,
	}))
}

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
