package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// What the proxy and the bridge in a container say to each other beside MCP.
const (
	// notifyWaiting tells the bridge that one of its calls waits for a person, and
	// the ticket by which it can ask for it again: the call's id in the audit.
	notifyWaiting = "notifications/ironcurtain/waiting"
	// methodResume is a call that was sent to a process that was killed while the
	// call waited. It is carried out only when it was certainly never let through.
	methodResume = "ironcurtain/resume"
)

// sayWaiting gives the bridge the call's ticket.
func (c *call) sayWaiting() {
	params, err := encode(map[string]any{"requestId": c.request.ID, "ticket": c.id})
	if err == nil {
		_ = c.session.out.Send(jsonrpc.Notification(notifyWaiting, params))
	}
}

// decodeResume takes the parameters of a resumed call apart.
func decodeResume(raw json.RawMessage) (ticket string, call callParams, err error) {
	fields, err := jsonx.Split(raw)
	if err != nil {
		return "", call, err
	}
	for _, f := range fields {
		switch f.Name {
		case "ticket":
			ticket, err = strict.Text(f.Raw)
		case "call":
			call, err = decodeCall(f.Raw)
		default:
			err = errUnknownMember
		}
		if err != nil {
			return "", call, err
		}
	}
	if ticket == "" || call.name == "" {
		return "", call, errors.New("a resumed call needs its ticket and the call")
	}
	return ticket, call, nil
}

// resume carries on with a call that waited when another process was killed. The
// queue holds it only if the audit shows that it was never let through; that is
// asked once per call. Whatever else is resumed ends as interrupted.
func (p *Proxy) resume(ctx context.Context, s *session, r *request) ([]byte, *call) {
	ticket, params, err := decodeResume(r.Params)
	if err != nil {
		p.recordRefused(ctx, err)
		return jsonrpc.AnswerError(r.ID, jsonrpc.Refuse(jsonrpc.InvalidParams, "%v", err)), nil
	}
	if p.config.Approvals == nil || !p.config.Approvals.Resume(p.config.Session, ticket) {
		return jsonrpc.Answer(r.ID, errorResult("INTERRUPTED: the connection to the host was lost during this call. "+
			"Whether it took effect is not known, and it is not repeated. Look at its effect before you do it again.")), nil
	}
	defer p.config.Approvals.Abandon(p.config.Session, ticket, "the call has ended without it")
	return p.carryOut(ctx, s, r, ticket, params)
}

// asShown takes over what a person has seen of the effect of a restored call: it
// may go on only as long as this still holds.
func (c *call) asShown(res approval.Resolution) {
	switch {
	case !res.Restored || c.proxy.config.Preview == nil:
	case res.Shown != nil:
		c.effect = res.Shown
	case c.effect != nil:
		c.effect = &preview.Effect{} // no effect was shown: it is another one now
	}
}
