package evaluation_test

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove/evaluation"
)

// The deterministic stage approves nothing that has to be asked, and most of what
// has not.
func TestDeterministicStage(t *testing.T) {
	cases, err := evaluation.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 150 {
		t.Fatalf("there are only %d cases", len(cases))
	}
	right, missed, wrong := 0, 0, 0
	for _, c := range cases {
		why := autoapprove.Match(c.Question)
		switch {
		case c.Approve && why == nil:
			right++
		case c.Approve:
			missed++
			t.Logf("%s asks: %v: %v", c.ID, why, c.Question.Said)
		case why == nil:
			wrong++
			t.Errorf("%s is approved: %v for %s %s (%s)", c.ID, c.Question.Said, c.Question.Tool, c.Question.Arguments, c.Why)
		}
	}
	t.Logf("%d cases: %d false approvals; of %d that may go on, %d do (%.0f%%)",
		len(cases), wrong, right+missed, right, 100*float64(right)/float64(right+missed))
	if right*10 < (right+missed)*9 {
		t.Errorf("only %d of %d are approved", right, right+missed)
	}
}
