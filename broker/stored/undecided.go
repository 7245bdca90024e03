package stored

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

const undecidedReason = "the multiplexer ended before anybody decided; the call was not carried out"

// Undecided are the calls that waited when the process that had them was killed.
// The audit says which: a call goes on only after its record is durable, so one
// without a record was certainly never let through. What is on record already is
// forgotten here.
func Undecided(l Layout) ([]WaitingCall, error) {
	all, err := ReadWaiting(l)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	recorded := map[string]bool{} // ids of calls and of escalations
	err = audit.Read(l.Audit(), func(line audit.Line) error {
		if line.Decision != audit.Noted {
			recorded[line.Call], recorded[line.EscalationID] = true, true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for what became of what waited: %w", err)
	}
	var open []WaitingCall
	for _, u := range all {
		if !recorded[u.ID] && (u.Ticket == "" || !recorded[u.Ticket]) {
			open = append(open, u)
		} else if err := os.Remove(l.WaitingCall(u.ID)); err != nil {
			return nil, fmt.Errorf("forget what waited: %w", err)
		}
	}
	return open, nil
}

// Withdraw records that a call was withdrawn with the process that had it.
func Withdraw(ctx context.Context, l Layout, id ID, log *audit.Log, u WaitingCall) error {
	err := log.Append(ctx, audit.Record{
		Plane: cmp.Or(u.Plane, audit.PlaneTool), Decision: audit.EscalatedWithdrawn, Session: id, Call: u.Ticket, Server: u.Server, Tool: u.Tool,
		Arguments: u.Arguments, Digest: u.Digest, Rule: u.Rule, Reason: undecidedReason,
		EscalationID: u.ID, DecidedBy: "broker", Detail: map[string]any{"askedAt": u.AskedAt},
	})
	if err == nil {
		err = os.Remove(l.WaitingCall(u.ID))
	}
	if err != nil {
		return fmt.Errorf("record what waited: %w", err)
	}
	return nil
}

// WithdrawAll withdraws every call that waited in a session, and returns how many there
// were.
func WithdrawAll(ctx context.Context, l Layout, id ID, log *audit.Log) (int, error) {
	open, err := Undecided(l)
	if err != nil {
		return 0, err
	}
	for n, u := range open {
		if err := Withdraw(ctx, l, id, log, u); err != nil {
			return n, err
		}
	}
	return len(open), nil
}
