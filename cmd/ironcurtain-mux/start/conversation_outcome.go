package start

import (
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// startCodes is the table of exit codes, for the help of start.
const startCodes = `Exit codes:

  0  every task got an answer
  1  a task failed or got no answer, or something else failed
  2  the command line was wrong
  3  every task got an answer, but a call was refused: by the policy, from another
     terminal, or because nobody decided in time; calls that you deny here do not count
  4  a task took longer than --timeout
  5  the session's budget was used up`

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	var c *cli.CodedError
	switch {
	case err == nil:
		return cli.ExitOK
	case errors.As(err, &c):
		return c.Code
	}
	return cli.ExitFailure
}

// outcomeOf returns why a task did not end as it should have, or nil.
func outcomeOf(t broker.Turn, calls []judgedCall) error {
	refused := refusedCalls(calls)
	switch {
	case t.End == broker.TurnTimedOut:
		return &cli.CodedError{Err: fmt.Errorf("the task was ended: %s", t.Failure), Code: cli.ExitTimedOut}
	case t.End == broker.TurnOverBudget:
		return &cli.CodedError{Err: errors.New("the task was ended: the session's budget is used up"), Code: cli.ExitBudget}
	case t.Failure != "" && t.Text != "":
		return fmt.Errorf("the task failed: %s", cli.SafeText(t.Failure))
	case t.Failure != "":
		return fmt.Errorf("the agent gave no answer: %s", cli.SafeText(t.Failure))
	case len(refused) > 0:
		first := refused[0]
		return &cli.CodedError{Err: fmt.Errorf("%s refused, first %s/%s (%s)", text.Counted(len(refused), "call"), cli.SafeName(first.Server), cli.SafeName(first.Tool), cli.SafeName(first.Decision)), Code: cli.ExitDenied}
	}
	return nil
}

// refusedCalls returns the calls that were refused and not let through later in the same
// task, without those that the person denied in start itself.
func refusedCalls(calls []judgedCall) (refused []judgedCall) {
	through := map[[3]string]bool{}
	for i := len(calls) - 1; i >= 0; i-- {
		c := calls[i]
		what := [3]string{c.Server, c.Tool, c.arguments}
		switch c.decision {
		case audit.Allow, audit.EscalatedApproved, audit.AutoApproved, audit.Granted:
			through[what] = true
		case audit.Deny, audit.EscalatedDenied, audit.EscalatedExpired:
			if !through[what] && c.by != "start" {
				refused = append([]judgedCall{c}, refused...)
			}
		default: // nothing was decided
		}
	}
	return refused
}

// tally counts the tasks of a conversation.
type tally struct{ tasks, unanswered, refused, overBudget int }

// add counts a task that ended with that error.
func (t *tally) add(err error) {
	t.tasks++
	switch codeOf(err) {
	case cli.ExitOK:
	case cli.ExitDenied:
		t.refused++
	case cli.ExitBudget:
		t.overBudget++
		t.unanswered++
	default:
		t.unanswered++
	}
}

// outcome returns the error for all tasks together, or nil.
func (t *tally) outcome() error {
	switch {
	case t.overBudget > 0:
		return &cli.CodedError{Err: fmt.Errorf("%d of %d tasks got no answer, because the session's budget is used up", t.unanswered, t.tasks), Code: cli.ExitBudget}
	case t.unanswered > 0:
		return fmt.Errorf("%d of %d tasks got no answer", t.unanswered, t.tasks)
	case t.refused > 0:
		return &cli.CodedError{Err: fmt.Errorf("calls were refused in %d of %d tasks", t.refused, t.tasks), Code: cli.ExitDenied}
	}
	return nil
}
