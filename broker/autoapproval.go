package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// AutoApprove lets calls through that a person has just ordered.
type AutoApprove struct {
	Known   []string  // hosts that a remote named by a short name may be on
	Confirm bool      // a model has to confirm
	Model   llm.Model // that confirms; nil when there is none
	Missing error     // why there is none
}

// autoApprover is who decided in the record of an automatic approval.
const autoApprover = "auto-approver"

// keptApprovals is how many automatic approvals of a session can be looked at.
const keptApprovals = 50

// AutoApproval is a call that was let through because a receipt ordered it.
type AutoApproval struct {
	Call    Escalation `json:"call"`
	Receipt int        `json:"receipt"`
	Quote   string     `json:"quote"`           // what was typed
	Model   string     `json:"model,omitempty"` // that confirmed
	At      time.Time  `json:"at"`
}

// autoApprove lets an item through when the receipt of its session orders it. It
// reports whether it did; one that a model still has to confirm waits for a
// person meanwhile.
func (b *Broker) autoApprove(item approval.Escalation) bool {
	auto := b.config.AutoApprove
	if auto == nil || item.Restored {
		return false
	}
	r, held := b.receipts.Current(item.Session)
	s, err := b.session(SessionID(item.Session))
	if !held || err != nil {
		return false
	}
	a := &attempt{broker: b, session: s, item: item, receipt: r, question: s.question(item, r)}
	if err := autoapprove.Match(a.question); err != nil {
		return a.ask(err.Error())
	}
	switch {
	case item.Effect != nil && item.Effect.Changed:
		return a.ask("what the call would do changed since it was let through")
	case !auto.Confirm:
		return a.let()
	case auto.Model == nil:
		return a.ask(fmt.Sprintf("no model can confirm: %v", auto.Missing))
	}
	b.keepReview(item.ID, a.review(""))
	b.work.Go(func() {
		if a.confirmation = autoapprove.Confirm(b.ctx, auto.Model, a.question); a.confirmation.Approve {
			a.let()
			return
		}
		a.ask("the model did not confirm: " + cmp.Or(a.confirmation.Error, a.confirmation.Reason))
	})
	return false
}

// attempt is one item beside the receipt it could rest on.
type attempt struct {
	broker       *Broker
	session      *session
	item         approval.Escalation
	receipt      receipt.Receipt
	question     autoapprove.Question
	confirmation autoapprove.Confirmation
}

// entry is the line about it in the log of the automatic approval.
func (a *attempt) entry(outcome, reason string) autoapprove.Entry {
	return autoapprove.Entry{
		Time: time.Now().UTC(), Session: a.item.Session, Escalation: a.item.ID, Server: a.item.Server, Tool: a.item.Tool,
		Digest: a.item.Digest, Receipt: a.receipt.Number, Quote: a.receipt.Quote(), Outcome: outcome, Reason: reason,
		Model: a.confirmation.Model, Prompt: a.confirmation.Prompt, Answer: a.confirmation.Answer,
		Attempts: a.confirmation.Attempts, TookMs: a.confirmation.Took.Milliseconds(),
	}
}

// ask leaves the item to a person and notes why.
func (a *attempt) ask(reason string) bool {
	a.broker.keepReview(a.item.ID, a.review(reason))
	if err := a.session.autoLog().Append(a.entry(autoapprove.OutcomeAsked, reason)); err != nil {
		a.broker.log.Error("automatic approval was not recorded", "session", a.item.Session, "error", err)
	}
	return false
}

// let spends the receipt, records what it was spent on and answers the item. A
// receipt that somebody else spent first, or a record that cannot be written,
// leaves the item to a person.
func (a *attempt) let() bool {
	b := a.broker
	if _, waits := b.approvals.Find(a.item.ID); !waits {
		return a.ask("somebody was faster")
	}
	if _, err := b.receipts.Spend(a.receipt.Number, receipt.Call{
		ID: a.item.ID, Session: a.item.Session, Digest: a.item.Digest, AskedAt: a.item.AskedAt,
	}); err != nil {
		return a.ask(err.Error())
	}
	if err := a.session.autoLog().Append(a.entry(autoapprove.OutcomeApproved, a.confirmation.Reason)); err != nil {
		a.session.notice(true, "a call was not approved automatically, because that could not be recorded: "+err.Error())
		return false
	}
	evidence := map[string]any{"receipt": a.receipt.Number, "quote": a.receipt.Quote()}
	if a.confirmation.Model != "" {
		evidence["model"], evidence["prompt"] = a.confirmation.Model, a.confirmation.Prompt
	}
	_, won, err := b.approvals.Answer(a.item.ID, a.item.Digest, approval.Answer{
		Approve: true, Effect: a.item.Fingerprint(), By: autoApprover, Automatic: true, Evidence: evidence,
	})
	if err != nil || !won {
		return false // somebody was faster
	}
	done := AutoApproval{
		Call: b.escalation(a.item), Receipt: a.receipt.Number, Quote: a.receipt.Quote(), Model: a.confirmation.Model, At: time.Now(),
	}
	a.session.keepApproval(done)
	b.hub.publish(Event{Kind: EventAutoApproval, At: done.At, AutoApproval: &done})
	return true
}

// keepApproval remembers an automatic approval, so that it can be looked at.
func (s *session) keepApproval(a AutoApproval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approvals = append(s.approvals, a)
	if len(s.approvals) > keptApprovals {
		s.approvals = s.approvals[1:]
	}
}

// autoLog is the session's log of automatic approvals.
func (s *session) autoLog() *autoapprove.Log { return autoapprove.NewLog(s.layout.autoApprovals()) }

// question puts an item and a receipt together, with what the host knows of the
// place.
func (s *session) question(item approval.Escalation, r receipt.Receipt) autoapprove.Question {
	q := autoapprove.Question{
		Plane: item.Plane, Server: item.Server, Tool: item.Tool, Arguments: item.Arguments, Rule: item.Rule, Reason: item.Reason,
		Place: autoapprove.Place{
			Home: s.broker.config.UserHome, Workspace: realPath(s.fixed.Workspace), Known: s.broker.config.AutoApprove.Known,
		},
	}
	for _, span := range r.Spans {
		q.Said = append(q.Said, autoapprove.Part{Text: r.Text[span.Start:span.End], Pasted: span.Pasted})
	}
	switch item.Server {
	case "git":
		f := s.previewer().Git(preview.Call{Server: item.Server, Tool: item.Tool, Arguments: item.Arguments})
		q.Git = &autoapprove.Git{
			Addresses: f.Addresses, Pinned: s.pinned, Branch: f.Branch, Odd: f.Odd,
			Root:     f.WorkTree != "" && f.WorkTree == realPath(s.fixed.Workspace),
			Upstream: f.Upstream, Typed: autoapprove.Head(r.Head),
		}
	case "filesystem":
		var a struct {
			Path string `json:"path"`
		}
		_ = json.Unmarshal(item.Arguments, &a) // without a path there is nothing that exists
		_, err := os.Lstat(a.Path)
		q.Exists = !errors.Is(err, fs.ErrNotExist)
	}
	return q
}

// head is what the workspace has checked out now, as far as a receipt needs it.
func (s *session) head() receipt.Head {
	if s.broker.config.AutoApprove == nil {
		return receipt.Head{}
	}
	branch, upstream := s.previewer().Head(realPath(s.fixed.Workspace))
	return receipt.Head{Branch: branch, Upstream: upstream}
}

// previewer works out what this session's calls would do.
func (s *session) previewer() *preview.Previewer {
	return &preview.Previewer{UserHome: s.broker.config.UserHome, Known: preview.KnownHosts}
}

// pinRemotes notes which remotes the workspace has before the agent can change
// them. What was noted first stays, also when the session is resumed.
func (s *session) pinRemotes() error {
	data, err := os.ReadFile(s.layout.remotes())
	if err == nil {
		if err := json.Unmarshal(data, &s.pinned); err != nil {
			return fmt.Errorf("prepare session: the note of the remotes is damaged: %w", err)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("prepare session: %w", err)
	}
	s.pinned = s.previewer().Remotes(realPath(s.fixed.Workspace))
	if data, err = json.Marshal(s.pinned); err == nil {
		err = wholefile.Write(s.layout.remotes(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("prepare session: %w", err)
	}
	return nil
}

// AutoApprovals lists what was let through automatically in a session.
func (b *Broker) AutoApprovals(_ context.Context, id SessionID) ([]AutoApproval, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.approvals), nil
}
