package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// AutoApprove configures the automatic approval of calls that a person has just ordered.
type AutoApprove struct {
	Known   []string  // hosts that a remote named by a short name may be on
	Reads   bool      // a model interprets what was typed, instead of the grammar
	Confirm bool      // a model has to confirm each approval; always true with Reads
	Model   llm.Model // the model that confirms or interprets; nil when there is none
	Missing error     // why Model is nil
}

// autoApprover is who has decided, in the record of an automatic approval.
const autoApprover = "auto-approver"

// maxApprovals is how many automatic approvals of a session AutoApprovals can list.
const maxApprovals = 50

// AutoApproval is a call that was let through because a receipt ordered it.
type AutoApproval struct {
	Call    approval.Escalation `json:"call"`
	Receipt int                 `json:"receipt"`
	Quote   string              `json:"quote"`           // what was typed
	Model   string              `json:"model,omitempty"` // the model that confirmed
	At      time.Time           `json:"at"`
}

// Ordered approves a call if the receipt of its session orders it, and reports whether it did.
// Otherwise the person decides, and e.Auto says why. If a model has to confirm first, Ordered sets
// e.Confirm, and the call waits for the model and the person: the first answer counts.
func (s *Session) Ordered(e *approval.Escalation) (approval.Resolution, bool) {
	auto := s.deps.Config.AutoApprove
	if auto == nil || s.deps.Approvals.Holds(*e) {
		return approval.Resolution{}, false
	}
	r, held := s.deps.Receipts.Current(e.Session)
	if !held {
		return approval.Resolution{}, false
	}
	id, err := approval.NewID()
	if err != nil {
		return approval.Resolution{}, false // the queue needs an id, too, and reports the error
	}
	e.ID, e.AskedAt = id, time.Now()
	a := &attempt{session: s, call: e, receipt: r, since: e.AskedAt, question: s.question(*e, r)}
	match := autoapprove.Match
	if auto.Reads {
		match = autoapprove.ForPerson
	}
	err = match(a.question)
	switch {
	case err != nil:
	case e.Effect != nil && e.Effect.Changed:
		err = errors.New("what the call would do has changed since it was approved")
	case !auto.Confirm:
		return a.approve()
	case auto.Model == nil:
		err = fmt.Errorf("no model can confirm: %w", auto.Missing)
	default:
		e.Auto, e.Confirm = a.review(""), sync.OnceFunc(a.confirm)
		return approval.Resolution{}, false
	}
	e.Auto = a.leaveToPerson(err.Error())
	return approval.Resolution{}, false
}

// attempt is the attempt to approve one call because a receipt orders it.
type attempt struct {
	session      *Session
	call         *approval.Escalation
	receipt      receipt.Receipt
	since        time.Time
	question     autoapprove.Question
	confirmation autoapprove.Confirmation
}

// approve approves a call that no person has been asked about yet.
func (a *attempt) approve() (approval.Resolution, bool) {
	answer, review := a.spend()
	if review != nil {
		a.call.Auto = review
		return approval.Resolution{}, false
	}
	call, res, err := a.session.deps.Approvals.Settle(*a.call, answer)
	if err != nil {
		return res, false
	}
	a.publish(call)
	return res, true
}

// confirm asks the model about a call that also waits for a person. The first answer counts.
func (a *attempt) confirm() {
	d := a.session.deps
	a.confirmation = autoapprove.Confirm(d.Context, d.Config.AutoApprove.Model, a.question)
	call, waits := d.Approvals.Find(a.call.ID)
	review := (*approval.AutoReview)(nil)
	switch {
	case !waits:
		a.leaveToPerson("the call was settled before the model answered")
		return
	case !a.confirmation.Approve:
		review = a.leaveToPerson("the model did not confirm: " + cmp.Or(a.confirmation.Error, a.confirmation.Reason))
	default:
		var answer approval.Answer
		if answer, review = a.spend(); review == nil {
			if _, won, err := d.Approvals.Answer(call.ID, call.Digest, answer); err == nil && won {
				a.publish(call)
			}
			return
		}
	}
	d.Approvals.Review(call.ID, *review)
}

// spend spends the receipt on the call and logs that. It leaves the call to the person if the
// receipt was spent before or the log cannot be written.
func (a *attempt) spend() (approval.Answer, *approval.AutoReview) {
	if _, err := a.session.deps.Receipts.Spend(a.receipt.Number, receipt.Call{
		ID: a.call.ID, Session: a.call.Session, Digest: a.call.Digest, AskedAt: a.since,
	}); err != nil {
		return approval.Answer{}, a.leaveToPerson(err.Error())
	}
	if err := a.session.autoLog().Append(a.entry(autoapprove.OutcomeApproved, a.confirmation.Reason)); err != nil {
		why := "the approval could not be logged: " + err.Error()
		a.session.notice(true, "a call was not approved automatically, because "+why)
		return approval.Answer{}, a.review(why)
	}
	evidence := map[string]any{"receipt": a.receipt.Number, "quote": a.receipt.Quote()}
	if a.confirmation.Model != "" {
		evidence["model"], evidence["prompt"] = a.confirmation.Model, a.confirmation.Prompt
	}
	return approval.Answer{
		Approve: true, Effect: a.call.Fingerprint(), By: autoApprover, Client: a.receipt.Client, Automatic: true, Evidence: evidence,
	}, nil
}

// leaveToPerson logs why the person decides about the call, and returns that for user interfaces.
func (a *attempt) leaveToPerson(reason string) *approval.AutoReview {
	if err := a.session.autoLog().Append(a.entry(autoapprove.OutcomeAsked, reason)); err != nil {
		a.session.deps.Log.Error("log why a call was left to the person", "session", a.call.Session, "error", err)
	}
	return a.review(reason)
}

// review describes the attempt for user interfaces. An empty reason means that the model has not
// answered yet.
func (a *attempt) review(reason string) *approval.AutoReview {
	return &approval.AutoReview{Receipt: a.receipt.Number, Since: a.since, Reason: reason}
}

// entry returns the attempt's line for the log of automatic approvals.
func (a *attempt) entry(outcome, reason string) autoapprove.Entry {
	return autoapprove.Entry{
		Time: time.Now().UTC(), Session: a.call.Session, Escalation: a.call.ID, Server: a.call.Server, Tool: a.call.Tool,
		Digest: a.call.Digest, Receipt: a.receipt.Number, Quote: a.receipt.Quote(), Outcome: outcome, Reason: reason,
		Model: a.confirmation.Model, Prompt: a.confirmation.Prompt, Answer: a.confirmation.Answer,
		Attempts: a.confirmation.Attempts, TookMs: a.confirmation.Took.Milliseconds(),
	}
}

// publish announces that the call was approved.
func (a *attempt) publish(call approval.Escalation) {
	call.Agent = a.session.fixed.Agent
	done := AutoApproval{
		Call: call, Receipt: a.receipt.Number, Quote: a.receipt.Quote(), Model: a.confirmation.Model, At: time.Now(),
	}
	a.session.keepApproval(done)
	a.session.deps.Events.AutoApproved(done)
}

// keepApproval keeps an automatic approval for AutoApprovals to list.
func (s *Session) keepApproval(a AutoApproval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approvals = append(s.approvals, a)
	if len(s.approvals) > maxApprovals {
		s.approvals = s.approvals[1:]
	}
}

// autoLog is the session's log of automatic approvals.
func (s *Session) autoLog() *autoapprove.Log { return autoapprove.NewLog(s.layout.AutoApprovals()) }

// question combines a waiting call, a receipt, and the state of the workspace.
func (s *Session) question(item approval.Escalation, r receipt.Receipt) autoapprove.Question {
	q := autoapprove.Question{
		Plane: item.Plane, Server: item.Server, Tool: item.Tool, Command: s.gitCommand(item.Server, item.Tool), Arguments: item.Arguments, Rule: item.Rule, Reason: item.Reason,
		Place: autoapprove.Place{
			Home: s.deps.Config.UserHome, Workspace: stored.RealPath(s.fixed.Workspace), Known: s.deps.Config.AutoApprove.Known,
		},
	}
	for _, span := range r.Spans {
		q.Said = append(q.Said, autoapprove.Part{Text: r.Text[span.Start:span.End], Pasted: span.Pasted})
	}
	switch item.Server {
	case "git":
		f := s.previewer().Git(policy.Call{Server: item.Server, Tool: item.Tool, Arguments: item.Arguments})
		q.Git = &autoapprove.Git{
			Addresses: f.Addresses, Pinned: s.remotes, Branch: f.Branch, Odd: f.Odd,
			Root:     f.WorkTree != "" && f.WorkTree == stored.RealPath(s.fixed.Workspace),
			Upstream: f.Upstream, Typed: autoapprove.Head(r.Head),
		}
	case "filesystem":
		var a struct {
			Path        string `json:"path"`
			Destination string `json:"destination"`
		}
		_ = json.Unmarshal(item.Arguments, &a) // after an error the path is empty, which does not exist
		_, err := os.Lstat(cmp.Or(a.Path, a.Destination))
		q.Exists = !errors.Is(err, fs.ErrNotExist)
	}
	return q
}

// AddReceipt makes what a person typed for the agent the session's receipt. It returns none if the
// session approves no call automatically, because a receipt would have no effect.
func (s *Session) AddReceipt(text string, spans []receipt.Span, client identity.Client) (receipt.Receipt, error) {
	if s.deps.Config.AutoApprove == nil || s.adapter.Place == agent.OnHost {
		return receipt.Receipt{}, nil
	}
	return s.deps.Receipts.Add(s.fixed.ID, text, spans, s.head(), client)
}

// head returns what the workspace has checked out now, for a receipt.
func (s *Session) head() receipt.Head {
	branch, upstream := s.previewer().Head(stored.RealPath(s.fixed.Workspace))
	return receipt.Head{Branch: branch, Upstream: upstream}
}

// previewer returns a Previewer for this session's calls.
func (s *Session) previewer() *preview.Previewer {
	return &preview.Previewer{UserHome: s.deps.Config.UserHome, Known: preview.KnownHosts, Command: s.gitCommand}
}

// gitCommand returns the git command that a tool runs, or "".
func (s *Session) gitCommand(server, tool string) string {
	s.mu.Lock()
	engine := s.engine
	s.mu.Unlock()
	return engine.Behavior(server, tool).Command
}

// commitsOf returns which commits a tool makes.
func (s *Session) commitsOf(server, tool string) mcpproxy.Commits {
	if server != "git" {
		return mcpproxy.NoCommits
	}
	switch s.gitCommand(server, tool) {
	case "commit":
		return mcpproxy.StagedCommits
	case "merge":
		return mcpproxy.MergeCommit
	case "cherry-pick":
		return mcpproxy.PickedCommits
	case "rebase":
		return mcpproxy.RebasedCommits
	case "am", "pull", "revert":
		return mcpproxy.OtherCommits
	}
	return mcpproxy.NoCommits
}

// pinRemotes stores the workspace's remotes before the agent can change them. A resumed session
// reads the stored ones.
func (s *Session) pinRemotes() error {
	data, err := os.ReadFile(s.layout.Remotes())
	if err == nil {
		if err := json.Unmarshal(data, &s.remotes); err != nil {
			return fmt.Errorf("prepare session: remotes.json is damaged: %w", err)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("prepare session: %w", err)
	}
	s.remotes = s.previewer().Remotes(stored.RealPath(s.fixed.Workspace))
	if data, err = json.Marshal(s.remotes); err == nil {
		err = wholefile.Write(s.layout.Remotes(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("prepare session: %w", err)
	}
	return nil
}

// AutoApprovals lists the latest calls that were approved automatically, oldest first.
func (s *Session) AutoApprovals() []AutoApproval {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.approvals)
}
