package mcpproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// judge fetches what the agent has changed, asks the policy about the call, and prepares the
// record. A call that is withdrawn before its turn comes is denied.
func (c *call) judge(ctx context.Context) {
	c.judgeHere(ctx, c.fetchFiles(ctx))
}

// judgeHere is judge without fetching files. A known verdict replaces the policy's.
func (c *call) judgeHere(ctx context.Context, known *policy.Verdict) {
	engine := c.proxy.engine()
	c.hash = engine.Hash()
	judged := policy.Call{Server: c.target.server, Tool: c.target.tool, Arguments: c.arguments}
	judged.Signs, judged.Unsigned = c.findSigner(ctx)
	judged.Changed = c.proxy.catalog.Load().changed[c.target] != ""
	if dir := c.proxy.workDir.Load(); dir != nil {
		judged.WorkDir = *dir
	}
	if known != nil {
		c.verdict = *known
	} else {
		c.verdict = c.proxy.evaluate(ctx, engine, judged)
	}
	sum := sha256.Sum256(c.arguments)
	c.record = audit.Record{
		Plane: audit.PlaneTool, Session: c.proxy.config.Session, Call: c.id,
		Server: c.target.server, Tool: c.target.tool, Arguments: c.verdict.Arguments,
		Requested: hex.EncodeToString(sum[:]), Digest: c.verdict.Digest,
		Rule: c.verdict.Rule, Reason: c.verdict.Reason, PolicyHash: c.hash,
	}
}

// maxJudged is how many calls of a session are judged at a time. Judging is bound by the
// processor, so more at a time would not be faster, and each keeps files in memory.
const maxJudged = 4

// evaluate asks the policy when it is the call's turn. It denies a call that is withdrawn before
// its turn, by the agent or by the end of the proxy.
func (p *Proxy) evaluate(ctx context.Context, engine Judge, c policy.Call) policy.Verdict {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.waits, cancel)()
	if p.judging.Acquire(ctx, 1) != nil {
		return policy.Verdict{Decision: policy.Deny, Rule: policy.RuleWithdrawn, Reason: "the call was withdrawn before it was judged"}
	}
	defer p.judging.Release(1)
	return engine.EvaluateContext(ctx, c)
}

// same reports whether two judgments have exactly the same meaning.
func same(a, b policy.Verdict) bool {
	return a.Digest != "" && a.Digest == b.Digest && bytes.Equal(a.Arguments, b.Arguments)
}
