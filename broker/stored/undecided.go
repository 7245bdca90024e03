package stored

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

const undecidedReason = "the multiplexer ended before anybody decided; the call was not carried out"

// Undecided returns the calls that still waited when their process was killed. The audit says which:
// a call is carried out only after its record is durable, so a call without a record never was.
// Undecided removes the files of the calls that have a record.
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
		return nil, fmt.Errorf("find out which waiting calls were decided: %w", err)
	}
	var open []WaitingCall
	for _, u := range all {
		if !recorded[u.ID] && (u.Ticket == "" || !recorded[u.Ticket]) {
			open = append(open, u)
		} else if err := os.Remove(l.WaitingCall(u.ID)); err != nil {
			return nil, fmt.Errorf("remove a decided call: %w", err)
		}
	}
	return open, nil
}

// Withdraw records that a call was withdrawn because its process ended, and removes its file.
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
		return fmt.Errorf("withdraw a waiting call: %w", err)
	}
	return nil
}

// WithdrawAll withdraws every waiting call of a session, and returns how many it has withdrawn.
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
