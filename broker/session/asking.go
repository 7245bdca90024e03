package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// The rules that escalations of requests name.
const (
	ruleAsk    = "endpoint-ask"  // the configuration says that the person decides about the endpoint
	ruleGitHub = "gh-reads-only" // the request to GitHub's API would change something
)

// The person who decides about a request sees its whole body if that has at most wholeBody bytes, and
// otherwise its first and last partBody bytes.
const (
	wholeBody = 8 << 10
	partBody  = 1 << 10
)

// askRequest asks the person about a request. It waits in the same queue as tool calls.
func (s *Session) askRequest(ctx context.Context, r mitm.Request) (mitm.Ruling, error) {
	shown := shownRequest{Method: r.Method, URL: "https://" + r.Host + r.Path, Query: r.Query, Model: r.Model}
	rule, reason, whole := ruleAsk, "the configuration says that you decide about this endpoint", wholeBody
	if r.Provider == mitm.GitHub {
		rule, reason, whole = ruleGitHub, "agents may only read from GitHub without asking you", len(r.Body)
		shown.Credential = s.deps.Config.GitHub.String()
	}
	arguments, err := shown.with(r.Body, whole)
	if err != nil {
		return mitm.Ruling{}, err
	}
	res, err := s.deps.Approvals.Ask(ctx, approval.Escalation{
		Session: s.fixed.ID, Plane: audit.PlaneHTTP, Server: r.Host, Tool: r.Method + " " + r.Path,
		Arguments: arguments, Rule: rule, Reason: reason, Digest: r.Digest,
		Timeout: s.deps.Config.EscalationTimeout,
		Effect:  s.previewer().Effect(ctx, policy.Call{Server: r.Host, Tool: r.Method, Arguments: arguments}),
	})
	if err != nil {
		return mitm.Ruling{}, err
	}
	return mitm.Ruling{
		Approved: res.Outcome == approval.Approved, Outcome: string(res.Outcome), Reason: res.Reason,
		ID: res.ID, By: res.By, Client: mitm.Client(res.Client), Waited: res.Waited,
	}, nil
}

// reportOutcomes wraps write, which writes the audit's records of requests. It also tells the queue
// how those requests ended that a person has decided about.
func (s *Session) reportOutcomes(write func(mitm.Record) error) func(mitm.Record) error {
	return func(r mitm.Record) error {
		err := write(r)
		if r.Ruling != nil {
			s.reportOutcome(r, err)
		}
		return err
	}
}

func (s *Session) reportOutcome(r mitm.Record, unwritten error) {
	ended := s.deps.Approvals.Ended
	switch id := r.Ruling.ID; {
	case r.Phase == mitm.PhaseResponse && r.Decision == mitm.Allow:
		ended(id, approval.EndDone, "")
	case r.Phase == mitm.PhaseResponse:
		ended(id, approval.EndFailed, r.Detail)
	case unwritten != nil:
		ended(id, approval.EndRefused, unrecorded(unwritten))
	case r.Decision != mitm.Allow && r.Ruling.Approved:
		ended(id, approval.EndRefused, r.Detail)
	case r.Decision != mitm.Allow:
		ended(id, approval.EndRefused, "")
	}
}

// unrecorded says why a decision does not count: its record could not be written.
func unrecorded(err error) string { return "its record could not be written: " + describe(err) }

// shownRequest is a request as the person sees it, the most important members first.
type shownRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Query  string `json:"query,omitempty"`
	Model  string `json:"model,omitempty"`
	// Credential names the person's credential that the request would be sent with.
	Credential string          `json:"credential,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
	Bytes      int             `json:"bodyBytes,omitempty"`
	Sum        string          `json:"bodySha256,omitempty"`
	Begins     string          `json:"bodyBegins,omitempty"`
	Ends       string          `json:"bodyEnds,omitempty"`
}

// with returns the request with its body as the arguments of a tool call. A JSON body of at most
// whole bytes is shown completely.
func (shown shownRequest) with(body []byte, whole int) (json.RawMessage, error) {
	switch n := len(body); {
	case n == 0:
	case n <= whole && json.Valid(body):
		shown.Body = body
	default:
		sum := sha256.Sum256(body)
		shown.Bytes, shown.Sum = n, hex.EncodeToString(sum[:])
		shown.Begins = strings.ToValidUTF8(string(body[:min(n, partBody)]), "\ufffd")
		shown.Ends = strings.ToValidUTF8(string(body[max(0, n-partBody):]), "\ufffd")
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil, fmt.Errorf("show the request: %w", err)
	}
	return text, nil
}
