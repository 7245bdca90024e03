package mcpproxy

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// slowJudge judges until its context ends.
type slowJudge struct {
	Judge
	now, most atomic.Int32
}

func (j *slowJudge) EvaluateContext(ctx context.Context, c policy.Call) policy.Verdict {
	now := j.now.Add(1)
	defer j.now.Add(-1)
	for most := j.most.Load(); now > most && !j.most.CompareAndSwap(most, now); most = j.most.Load() {
	}
	<-ctx.Done()
	return j.Judge.EvaluateContext(ctx, c)
}

func newSlow(t *testing.T) (*harness, *slowJudge) {
	t.Helper()
	j := &slowJudge{}
	r := newHarness(t, func(c *Config) {
		j.Judge = c.Engine
		c.Engine = j
	})
	return r, j
}

const slowCalls = 3 * maxJudged

func askSlowly(r *harness, j *slowJudge) *agent {
	r.t.Helper()
	a := r.agent()
	for i := range slowCalls {
		a.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"tools/call","params":{"name":"filesystem__read_text_file","arguments":{"path":"a"}}}`)
	}
	eventually(r.t, func() bool { return j.now.Load() == maxJudged && r.begun() == slowCalls }, "%d calls, %d of them judged", slowCalls, maxJudged)
	return a
}

// begun is how many calls were read and are not answered yet.
func (r *harness) begun() int {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	n := 0
	for cn := range r.proxy.connections {
		cn.mu.Lock()
		n += len(cn.open)
		cn.mu.Unlock()
	}
	return n
}

// checkWithdrawn waits until every call has its record, and no call went on.
func checkWithdrawn(r *harness, j *slowJudge) {
	r.t.Helper()
	eventually(r.t, func() bool { return len(r.decisions()) == slowCalls }, "%d records", slowCalls)
	for _, d := range r.decisions() {
		if d.Rule != policy.RuleWithdrawn {
			r.t.Errorf("recorded as %s by %s", d.Decision, d.Rule)
		}
	}
	if most := j.most.Load(); most != maxJudged {
		r.t.Errorf("%d calls were judged at once", most)
	}
	if n := len(r.forwarded()); n != 0 {
		r.t.Errorf("%d calls went on", n)
	}
}

// A few calls are judged at a time, and each ends when its agent takes it back, whether
// it is judged already or not.
func TestCallsTakenBackWhileTheyAreJudged(t *testing.T) {
	r, j := newSlow(t)
	a := askSlowly(r, j)
	for i := range slowCalls {
		a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + strconv.Itoa(i) + `}}`)
	}
	checkWithdrawn(r, j)
}

// The end of the proxy waits for no judgment.
func TestTheEndOfTheProxyEndsJudgements(t *testing.T) {
	r, j := newSlow(t)
	a := askSlowly(r, j)
	r.close()
	for range slowCalls {
		if m := a.receive(); !m.isError() || !strings.Contains(m.text(), "withdrawn") {
			t.Errorf("answer %s", m.Result)
		}
	}
	checkWithdrawn(r, j)
}
