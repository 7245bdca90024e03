package mcpproxy

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// A policy that is put in place while a call waits has the last word.
func TestAReloadedPolicyJudgesWhatWaits(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	a.send(r.outsideCall("1"))
	item := r.pending(1)[0]
	compiled, annotations := policy.Default()
	engine, err := policy.New(policy.Config{
		Policy: compiled, Annotations: annotations, Sandbox: r.work, Mount: "/workspace", Home: r.dir,
		Protected: []string{r.outside},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.proxy.Reload(engine)
	if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("1"); !m.isError() || !strings.Contains(m.text(), policy.RuleProtectedPath) {
		t.Fatalf("answer %s", m.Result)
	}
	if d := r.decisions(); len(d) != 1 || d[0].Decision != audit.Deny || d[0].EscalationID != item.ID || len(r.forwarded()) != 0 {
		t.Fatalf("records %v", d)
	}
}
