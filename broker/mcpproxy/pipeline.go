package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Rules of the pipeline itself, beside those of the policy.
const (
	ruleUnknownTool = "unknown-tool"
	ruleRepeats     = "circuit-breaker"
	ruleCrowded     = "escalation-limit"
	ruleChanged     = "changed-while-waiting"
	ruleQuarantine  = "changed-tool"
	ruleFutile      = "cannot-work-out"
	ruleAudit       = "audit-unavailable"
	ruleBudget      = "budget"
	ruleRoom        = "session-memory"
	ruleFiles       = "files-unavailable"
)

// maxEvidence is how much of refused arguments is recorded.
const maxEvidence = 4 << 10

// call is one tool call on its way, from the agent's request to the effect.
type call struct {
	proxy         *Proxy
	agent         *agentConn
	request       json.RawMessage // the id of the agent's request
	params        json.RawMessage // of the request; nil as soon as the call is judged
	hold          hold            // memory of the request, until it is answered
	id            string          // of the call in the audit
	target        target
	arguments     json.RawMessage // as received, then cut to what is still needed; nil when absent
	progressToken json.RawMessage // nil when the agent wants no progress
	verdict       policy.Verdict
	hash          string // of the policy that judged
	record        audit.Record
	needs         []stage.Access  // the paths that the call names
	staging       *staging        // what the call needs that its running server lacks; nil: nothing
	login         *login          // at the remote that the call contacts; nil: none
	effect        *preview.Effect // as it was shown to the person
	// loginNote says with which login the call contacts a remote, or why with none. It is empty
	// until that was found out.
	loginNote string
	again     bool // the person is asked again, because the effect changed
	asked     int  // how often an approval was void because the effect had changed
	signing   signing
	ending    ending
	answer    hold    // memory of the result, until the agent has it
	outcome   outcome // for the person who decided about the call
	refusal   refusal
	past      *past         // of a program that is run again; nil: this call is none
	program   *running      // that makes the call; nil: the agent makes it
	made      codemode.Call // by that program
	sent      bool          // to its server
	notes     []string      // for the agent, behind the result
	waits     func(bool)    // called with true when a program's call begins to wait for a person, then with false; may be nil
}

// run carries out a call and returns the answer. The caller finishes the call after sending
// the answer.
func (c *call) run(ctx context.Context) []byte {
	c.id = newCallID()
	tool, err := c.decode(c.params)
	if err != nil {
		return c.notACall(ctx, err)
	}
	return c.carryOut(ctx, tool)
}

// notACall refuses a request whose parameters are not those of a call.
func (c *call) notACall(ctx context.Context, err error) []byte {
	c.proxy.recordRefused(ctx, err)
	return jsonrpc.AnswerError(c.request, jsonrpc.Refuse(jsonrpc.InvalidParams, "%v", err))
}

// carryOut is run for decoded parameters. tool is the agent's name for the tool.
func (c *call) carryOut(ctx context.Context, tool string) []byte {
	return jsonrpc.Answer(c.request, c.result(ctx, tool))
}

// result takes a call through judgment and decision to its effect, and returns its result.
func (c *call) result(ctx context.Context, tool string) json.RawMessage {
	catalog := c.proxy.catalog.Load()
	where, offered := catalog.resolve(tool)
	c.target = where
	c.proxy.announce(Activity{Kind: CallBegan, Server: where.server, Tool: where.tool})
	defer c.proxy.announce(Activity{Kind: CallEnded, Server: where.server, Tool: where.tool})
	c.judge(ctx)
	if !c.keepLess() {
		return c.refuseNoRoom(ctx)
	}
	result := c.decide(ctx, offered, catalog.hidden[where])
	c.returnFiles(ctx)
	c.tellOutcome()
	return c.withNotes(result)
}

// decide takes the call to its end and returns the result for the agent.
func (c *call) decide(ctx context.Context, offered bool, hidden string) json.RawMessage {
	switch {
	case c.verdict.Rule == policy.RuleWithdrawn:
		return c.refuseAs(ctx, audit.Deny, c.verdict.Rule, "The call was withdrawn.", c.verdict.Reason)
	case c.verdict.Decision != policy.Allow && c.verdict.Decision != policy.Escalate:
		return c.deny(ctx, c.verdict.Rule, c.verdict.Reason)
	case !offered && hidden != "":
		return c.deny(ctx, ruleQuarantine, "the tool is not offered: "+hidden)
	case !offered || c.program != nil && !c.callable():
		return c.deny(ctx, ruleUnknownTool, "there is no such tool")
	case !c.callable():
		return c.deny(ctx, ruleUnknownTool, errNotInPrograms.Error())
	}
	if why := c.proxy.stopped(); why != nil {
		return c.deny(ctx, ruleBudget, why.Error())
	}
	switch {
	case c.proxy.rate.repeated(c.verdict.Digest):
		return c.refuseRepeated(ctx)
	case c.verdict.Decision == policy.Escalate:
		if err := c.futile(); err != nil {
			return c.refuseFutile(ctx, err)
		}
		if refusal := c.escalate(ctx); refusal != nil {
			return refusal
		}
	default:
		if err := c.plan(); err != nil {
			return c.refuseFutile(ctx, err)
		}
		c.record.Decision = audit.Allow
	}
	return c.forward(ctx)
}

// stopped returns why no call is let through for now, or nil.
func (p *Proxy) stopped() error {
	if p.config.Stopped == nil {
		return nil
	}
	return p.config.Stopped()
}

// deny records a refusal and tells the agent.
func (c *call) deny(ctx context.Context, rule, reason string) json.RawMessage {
	again := "The same call will be denied again; do not repeat it. Do it another way, or tell the person what you need."
	switch rule {
	case ruleFutile:
		again = "The person was not asked. The same call will be denied until the reason is gone. Do it another way, or tell the person what you need."
	case ruleFiles:
		again = "Nothing was done. Try again in a moment, and tell the person if it is denied again."
	}
	return c.refuseAs(ctx, audit.Deny, rule, "DENIED: "+c.name()+" was denied by rule "+rule+": "+reason+". "+again, reason)
}

// refuseRepeated refuses a call that the agent repeats too often.
func (c *call) refuseRepeated(ctx context.Context) json.RawMessage {
	reason := fmt.Sprintf("the same call was made %d times within a minute", c.proxy.limits.Repeats)
	return c.refuseAs(ctx, audit.Deny, ruleRepeats, "CIRCUIT BREAKER: "+c.name()+" was denied by rule "+ruleRepeats+": "+reason+
		". DENIED: do something else, or wait a minute.", reason)
}

// refuseAs records how a call was refused. The call is refused even if that cannot be
// recorded.
func (c *call) refuseAs(ctx context.Context, d audit.Decision, rule, text, reason string) json.RawMessage {
	r := c.record
	r.Decision, r.Rule, r.Reason = d, rule, reason
	c.refusal = refusal{d, rule}
	if len(r.Arguments) == 0 && len(c.arguments) > 0 {
		// There are no canonical arguments; the original ones are evidence only.
		r.Detail = map[string]any{"requested": strings.ToValidUTF8(string(c.arguments[:min(len(c.arguments), maxEvidence)]), "\uFFFD")}
	}
	err := c.append(ctx, r)
	if err != nil {
		text += " (This decision could not be recorded: " + err.Error() + ")"
	}
	c.outcome.refused(reason, err)
	return errorResult(c.proxy.present(text, false))
}

// refuseNoRoom refuses a call for which there is no room.
func (c *call) refuseNoRoom(ctx context.Context) json.RawMessage {
	return c.refuseAs(ctx, audit.Deny, ruleRoom, "DENIED: "+c.name()+" was denied by rule "+ruleRoom+": "+errNoRoom.Error()+".", errNoRoom.Error())
}

// withdrawn records that a call was withdrawn before it was let through, and why.
func (c *call) withdrawn(ctx context.Context, why error) json.RawMessage {
	return c.refuseAs(ctx, audit.Deny, policy.RuleWithdrawn, "The call was withdrawn.", why.Error())
}

// append writes a record, even if the call was withdrawn meanwhile.
func (c *call) append(ctx context.Context, r audit.Record) error {
	return c.proxy.config.Audit.Append(context.WithoutCancel(ctx), c.ofProgram(r))
}

// forward records that the call is let through, sends it to the server, and prepares the result.
func (c *call) forward(ctx context.Context) json.RawMessage {
	if c.target == execute {
		return c.runProgram(ctx)
	}
	if own := c.proxy.builtin(c.target); own != nil {
		return c.runBuiltin(ctx, own)
	}
	b := c.proxy.backend(c.target.server)
	if b == nil {
		return c.deny(ctx, ruleUnknownTool, "there is no such server")
	}
	if why := context.Cause(ctx); why != nil {
		return c.withdrawn(ctx, why)
	}
	if c.staging != nil {
		return c.forwardOnStage(ctx, b)
	}
	c.ending.began = time.Now()
	if err := b.acquire(ctx); err != nil {
		if why := context.Cause(ctx); why != nil {
			return c.withdrawn(ctx, why)
		}
		return c.failed(err)
	}
	defer b.release()
	if hidden := c.proxy.catalog.Load().hidden[c.target]; hidden != "" { // the server's start may have shown a changed tool
		return c.deny(ctx, ruleQuarantine, "the tool is not offered any more: "+hidden)
	}
	c.record.Sandboxed = b.sandboxed()
	c.note("signature", c.verdict.Signs)
	if err := c.append(ctx, c.record); err != nil {
		return c.unrecorded(err)
	}
	defer c.prepareSigning(ctx, b, b.spec)()
	c.ending.began = time.Now()
	got, err := b.call(ctx, c)
	if err != nil {
		return c.failed(err)
	}
	clean, toolFailed, err := c.cleaned(ctx, got)
	if err != nil {
		return c.failed(err)
	}
	if !toolFailed {
		c.proxy.follow(c)
		clean = c.sign(ctx, clean)
	}
	c.answered(clean, toolFailed)
	return clean
}

// cleaned returns the agent's version of a server's answer, and whether the tool failed.
func (c *call) cleaned(ctx context.Context, got reply) (result json.RawMessage, failed bool, err error) {
	c.answer = got.room
	if err := c.proxy.room.passing.take(ctx, c.proxy.life); err != nil {
		return nil, false, err
	}
	defer c.proxy.room.passing.give()
	return c.proxy.clean(got.result, c.record.Sandboxed)
}

// note adds a detail to the record of a call that is let through.
func (c *call) note(name, value string) {
	if value == "" {
		return
	}
	c.record.Detail = maps.Clone(c.record.Detail)
	if c.record.Detail == nil {
		c.record.Detail = map[string]any{}
	}
	c.record.Detail[name] = value
}

// unrecorded returns the refusal of a call whose decision could not be recorded.
func (c *call) unrecorded(err error) json.RawMessage {
	c.outcome.is(approval.EndRefused, "its record could not be written: "+err.Error())
	c.refusal = refusal{audit.Deny, ruleAudit}
	return errorResult("DENIED: " + c.name() + " was not carried out, because the decision could not be recorded (rule " +
		ruleAudit + "): " + err.Error() + ". Tell the person; calls work again when the audit log does.")
}

// failed returns the error result of an allowed call that has failed.
func (c *call) failed(err error) json.RawMessage {
	c.outcome.is(approval.EndFailed, err.Error())
	text := c.proxy.present(err.Error(), c.record.Sandboxed)
	c.ending.failure(err, text)
	var down *DownError
	if errors.As(err, &down) {
		return errorResult("ERROR: " + text + ". Whether the call took effect is not known; look before you try again.")
	}
	return errorResult("ERROR: " + c.name() + " failed: " + text)
}

func (c *call) name() string { return c.target.server + "/" + c.target.tool }

func (p *Proxy) backend(name string) *backend {
	for _, b := range p.servers() {
		if b.spec.Name == name {
			return b
		}
	}
	return nil
}

// recordRefused records a message that never became a call.
func (p *Proxy) recordRefused(ctx context.Context, err error) {
	if p.config.Audit.Full() != nil {
		return // it is counted there
	}
	_ = p.config.Audit.Append(context.WithoutCancel(ctx), audit.Record{
		Plane: audit.PlaneTool, Decision: audit.Deny, Session: p.config.Session,
		Rule: policy.RuleInvalidRequest, Reason: err.Error(), PolicyHash: p.engine().Hash(),
	})
}

func newCallID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails; the id is only for reading
	return hex.EncodeToString(b[:])
}
