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
		case c.Reads && why != nil: // the grammar does not read it
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

// The rules that stand beside a model that reads keep for the person what is marked so, and
// let the model judge all that may go on.
func TestFixedRules(t *testing.T) {
	cases, err := evaluation.Load()
	if err != nil {
		t.Fatal(err)
	}
	kept, left, reads := 0, 0, 0
	for _, c := range cases {
		why := autoapprove.ForPerson(c.Question)
		switch {
		case c.Fixed && why == nil:
			t.Errorf("%s is left to a model: %v for %s %s (%s)", c.ID, c.Question.Said, c.Question.Tool, c.Question.Arguments, c.Why)
		case c.Approve && c.Reads && why != nil:
			t.Errorf("%s is kept for the person: %v: %v", c.ID, why, c.Question.Said)
		case !c.Approve && why != nil:
			kept++
		case !c.Approve:
			left++
		}
		if c.Reads {
			reads++
		}
	}
	if reads < 25 {
		t.Errorf("only %d cases are in words that the grammar does not know", reads)
	}
	t.Logf("of %d calls that a person must be asked about, the fixed rules keep %d, and a model has to keep %d", kept+left, kept, left)
}
