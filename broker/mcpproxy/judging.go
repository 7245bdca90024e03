package mcpproxy

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// maxJudged is how many calls of a session are judged at a time. Judging is bound by the
// processor, so more at a time would not be faster, and each keeps files in memory.
const maxJudged = 4

// evaluate asks the policy when it is the call's turn. It denies a call that is taken back
// before, by the agent or by the end of the proxy.
func (p *Proxy) evaluate(ctx context.Context, engine Judge, c policy.Call) policy.Verdict {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.waits, cancel)()
	if p.judging.Acquire(ctx, 1) != nil {
		return policy.Verdict{Decision: policy.Deny, Rule: policy.RuleWithdrawn, Reason: "the call was taken back before it was judged"}
	}
	defer p.judging.Release(1)
	return engine.EvaluateContext(ctx, c)
}
