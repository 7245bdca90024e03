package start

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// A call that was refused and let through afterwards, and one that the person denied in
// start itself, are no surprise.
func TestRefusedCalls(t *testing.T) {
	call := func(tool, arguments string, d audit.Decision, by string) judgedCall {
		return judgedCall{Tool: tool, Decision: string(d), decision: d, by: by, arguments: arguments}
	}
	got := refusedCalls([]judgedCall{
		call("a", "1", audit.Deny, ""),
		call("b", "1", audit.EscalatedExpired, ""), call("b", "1", audit.EscalatedApproved, "tui"),
		call("c", "1", audit.EscalatedDenied, "start"),
		call("d", "1", audit.EscalatedDenied, "cli"), call("d", "2", audit.Allow, ""),
	})
	if len(got) != 2 || got[0].Tool != "a" || got[1].Tool != "d" {
		t.Errorf("%+v", got)
	}
}
