package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// restoreWaiting puts the calls back into the queue that waited when the agent's multiplexer was
// killed, with the same digests. The agent still runs, or continues its conversation, and makes the
// calls again as soon as the tools are served.
func (s *Session) restoreWaiting(ctx context.Context, stack *teardown, log *audit.Log) error {
	open, err := stored.Undecided(s.layout)
	if err != nil {
		return err
	}
	held, end := context.WithCancel(ctx)
	stack.push("stop waiting for the callers of restored calls", func(context.Context) error {
		end()
		s.restoredCalls.Wait()
		return nil
	})
	restored := 0
	for _, u := range open {
		if u.Ticket == "" { // the caller cannot make the same call again
			if err := stored.Withdraw(ctx, s.layout, s.fixed.ID, log, u); err != nil {
				return err
			}
			continue
		}
		left := s.leftOf(u.ID)
		was := u.ID
		f, err := s.restoredItem(ctx, &u)
		if err != nil {
			return err
		}
		if u.ID != was {
			left = nil // the person has not seen the new effect, so the call gets its full time again
		}
		h, err := s.deps.Approvals.Restore(f, left)
		if err != nil {
			return err
		}
		restored++
		s.restoredCalls.Go(func() { s.awaitAnswer(held, log, h, u) })
	}
	s.restoreDone()
	if restored == 0 {
		if err := os.RemoveAll(s.layout.Journals()); err != nil { // no program waits any more
			return err
		}
	}
	if restored > 0 {
		s.sendNotice(Notice{Urgent: true, About: aboutRestored, Text: callsWaited(restored) + " when the multiplexer ended, and can be decided again"})
	}
	if left := len(open) - restored; left > 0 {
		s.notice(true, fmt.Sprintf("%s when the multiplexer ended, and cannot wait again: not carried out, see /history", callsWaited(left)))
	}
	return nil
}

// aboutRestored is the About of the notice that restored calls can be decided.
const aboutRestored = "restored calls"

// leftOf returns the time that is left for a call which another program has handed over; nil: the call
// was not handed over.
func (s *Session) leftOf(id string) *approval.Left {
	if s.kept == nil {
		return nil
	}
	left, waited := s.kept.Waiting[id]
	if !waited {
		return nil
	}
	return &left
}

// restoredItem makes the queue's item for a restored call, with its present effect. If that differs
// from the effect that was shown, it is marked as changed and the call gets a new id, so that a person
// who has seen the old effect cannot approve the new one.
func (s *Session) restoredItem(ctx context.Context, u *stored.WaitingCall) (approval.Escalation, error) {
	f := approval.Escalation{
		Number: u.Number, AskedAt: u.AskedAt,
		Session: s.fixed.ID, Plane: audit.PlaneTool, Server: u.Server, Tool: u.Tool,
		Arguments: u.Arguments, Requested: u.Requested, Rule: u.Rule, Reason: u.Reason, Digest: u.Digest,
		Timeout: s.deps.Config.EscalationTimeout, Ticket: u.Ticket,
		Effect: s.previewer().Effect(ctx, policy.Call{Server: u.Server, Tool: u.Tool, Arguments: u.Arguments}),
	}
	if f.Fingerprint() != u.Fingerprint {
		if f.Effect != nil {
			f.Effect.Changed = true
		}
		before := s.layout.WaitingCall(u.ID)
		var err error
		if u.ID, err = approval.NewID(); err != nil {
			return f, err
		}
		u.Fingerprint = f.Fingerprint()
		if err := stored.WriteWaiting(s.layout, *u); err != nil {
			return f, fmt.Errorf("store a waiting call: %w", err)
		}
		if err := os.Remove(before); err != nil {
			return f, fmt.Errorf("remove a former waiting call: %w", err)
		}
	}
	f.ID = u.ID
	return f, nil
}

// awaitAnswer waits until a restored call's caller is back. If the call is settled before that,
// awaitAnswer records it. An answer that cannot be recorded does not count.
func (s *Session) awaitAnswer(ctx context.Context, log *audit.Log, h *approval.Held, u stored.WaitingCall) {
	res, settled := h.Wait(ctx)
	if !settled {
		return // the caller is back, and the proxy records the answer
	}
	r := audit.Record{
		Plane: audit.PlaneTool, Session: s.fixed.ID, Call: u.Ticket, Server: u.Server, Tool: u.Tool,
		Arguments: u.Arguments, Digest: u.Digest, Rule: u.Rule, Reason: res.Reason,
		EscalationID: u.ID, DecidedBy: res.By, Client: res.Client, WaitMs: res.Waited.Milliseconds(),
		Detail: map[string]any{"askedAt": u.AskedAt, "askedBeforeRestart": true},
	}
	switch res.Outcome {
	case approval.Approved:
		r.Decision, r.Reason = audit.Noted, fmt.Sprintf("approved while the agent did not wait for the answer: the same call is let through once, within %v", approval.AnswerHold)
	case approval.Denied:
		r.Decision = audit.EscalatedDenied
	case approval.Expired:
		r.Decision = audit.EscalatedExpired
	case approval.Withdrawn:
		r.Decision = audit.EscalatedWithdrawn
		if res.By != "caller" { // the session withdrew it, not its caller
			r.Reason = "the session has ended"
		}
	}
	if err := log.Append(context.WithoutCancel(ctx), r); err != nil {
		h.Forget()
		s.deps.Approvals.Ended(u.ID, approval.EndRefused, "the answer could not be recorded: "+describe(err))
		s.notice(true, fmt.Sprintf("the answer to #%d does not count, because it could not be recorded: %s", res.Number, describe(err)))
		return
	}
	s.deps.Approvals.Ended(u.ID, approval.EndKept, "")
	if res.Kept && !h.Used(ctx) && res.Outcome == approval.Approved {
		r.Reason = "the approval has ended unused"
		if err := log.Append(context.WithoutCancel(ctx), r); err != nil {
			s.deps.Log.Error("record that an approval ended unused", "session", s.fixed.ID, "error", err)
		}
	}
}

// callsWaited says how many calls waited.
func callsWaited(n int) string {
	if n == 1 {
		return "1 call waited"
	}
	return fmt.Sprintf("%d calls waited", n)
}

// settleWaiting withdraws the calls that waited when the multiplexer ended, and records that. It is for
// a session whose agent starts again.
func (s *Session) settleWaiting(ctx context.Context, log *audit.Log) error {
	n, err := stored.WithdrawAll(ctx, s.layout, s.fixed.ID, log)
	if n > 0 {
		s.notice(true, fmt.Sprintf("%s when the multiplexer ended: not carried out, see /history", callsWaited(n)))
	}
	s.restoreDone()
	return errors.Join(err, os.RemoveAll(s.layout.Journals()))
}

// Restored reports whether the calls that waited when the session's last multiplexer ended have been
// restored or withdrawn.
func (s *Session) Restored() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restored
}

// restoreDone makes Restored report true.
func (s *Session) restoreDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restored = true
}
