package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Decision is the way in which a request was decided or ended.
type Decision string

// The decisions. Each way in which a request ends has its own.
const (
	Allow              Decision = "allow"
	Deny               Decision = "deny"
	EscalatedApproved  Decision = "escalated-approved"
	EscalatedDenied    Decision = "escalated-denied"
	EscalatedExpired   Decision = "escalated-expired"
	EscalatedWithdrawn Decision = "escalated-withdrawn"
	AutoApproved       Decision = "auto-approved"
	Granted            Decision = "granted" // by a grant
	Done               Decision = "done"    // a call that was let through, and was answered
	Failed             Decision = "error"   // one that was let through, and could not be carried out
	Recovered          Decision = "recovered"
	Noted              Decision = "noted" // a fact worth keeping that decides nothing
)

// Outcome says how a call ended that was let through. A call without such a record was under way
// when the log or the program ended, and it is not known whether it took effect.
type Outcome string

// The outcomes: the first two of Done, the others of Failed.
const (
	Answered   Outcome = "answered"
	ToolError  Outcome = "tool-error"  // the tool answered that something went wrong
	Refused    Outcome = "refused"     // the server did not carry it out, and said so
	Cancelled  Outcome = "cancelled"   // the agent took it back, or is gone
	TimedOut   Outcome = "timed-out"   // the server did not answer in time
	ServerDied Outcome = "server-died" // or did not run
	Unreadable Outcome = "unreadable"  // the answer could not be understood, and was not passed on
)

// The planes a record can be about.
const (
	PlaneTool    = "tool"
	PlaneHTTP    = "http"
	PlanePackage = "package" // package registries
	PlaneAudit   = "audit"   // the log itself
	PlaneHost    = "host"    // sandboxes, servers, sessions
)

// maxArguments is the size of arguments up to which they are kept whole;
// longer ones are kept as a digest.
const maxArguments = 64 << 10

// Record is one decision, or the end of a call.
type Record struct {
	Time         time.Time       `json:"time"` // zero means now
	Plane        string          `json:"plane"`
	Decision     Decision        `json:"decision"`
	Session      string          `json:"session,omitempty"`
	Call         string          `json:"call,omitempty"` // ties the records of one call together
	Server       string          `json:"server,omitempty"`
	Tool         string          `json:"tool,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"` // canonical, as forwarded
	Requested    string          `json:"requested,omitempty"` // SHA-256 of the arguments as the agent wrote them
	Digest       string          `json:"digest,omitempty"`    // of the judged call
	Rule         string          `json:"rule,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	EscalationID string          `json:"escalationId,omitempty"`
	DecidedBy    string          `json:"decidedBy,omitempty"`
	Client       identity.Client `json:"client,omitzero"` // with which it was decided
	WaitMs       int64           `json:"waitMs,omitempty"`
	PolicyHash   string          `json:"policyHash,omitempty"`
	Sandboxed    bool            `json:"sandboxed,omitempty"`
	Outcome      Outcome         `json:"outcome,omitempty"`     // of Done and Failed
	DurationMs   float64         `json:"durationMs,omitempty"`  // from being let through to the outcome
	ResultBytes  int             `json:"resultBytes,omitempty"` // of the result as the agent got it
	Detail       map[string]any  `json:"detail,omitempty"`
	// Encoded is a detail that is already a JSON object. It replaces Detail when a
	// record is written, and is empty in a record that was read.
	Encoded json.RawMessage `json:"-"`
}

// encode appends the record, redacted, as the members of a line.
func (r *Record) encode(b []byte, redact *Redactor) ([]byte, error) {
	b = slices.Grow(b, len(r.Arguments)+len(r.Reason)+768)
	b = append(b, `"time":"`...)
	b = append(r.Time.UTC().AppendFormat(b, time.RFC3339Nano), '"')
	b = appendText(b, "plane", r.Plane)
	b = appendText(b, "decision", string(r.Decision))
	b = appendOptional(b, "session", r.Session)
	b = appendOptional(b, "call", r.Call)
	b = appendOptional(b, "server", r.Server)
	b = appendOptional(b, "tool", r.Tool)
	b, err := r.appendArguments(b, redact)
	if err != nil {
		return nil, err
	}
	b = appendOptional(b, "requested", r.Requested)
	b = appendOptional(b, "digest", r.Digest)
	b = appendOptional(b, "rule", r.Rule)
	b = appendOptional(b, "reason", redact.Text(r.Reason))
	b = appendOptional(b, "escalationId", r.EscalationID)
	b = appendOptional(b, "decidedBy", r.DecidedBy)
	b = appendClient(b, r.Client)
	if r.WaitMs != 0 {
		b = strconv.AppendInt(append(b, `,"waitMs":`...), r.WaitMs, 10)
	}
	b = appendOptional(b, "policyHash", r.PolicyHash)
	if r.Sandboxed {
		b = append(b, `,"sandboxed":true`...)
	}
	b = r.appendOutcome(b)
	detail := r.Encoded
	if len(detail) == 0 && len(r.Detail) > 0 {
		if detail, err = json.Marshal(r.Detail); err != nil {
			return nil, err
		}
	}
	if len(detail) > 0 {
		if b, err = appendOnOneLine(append(b, `,"detail":`...), redact.JSON(detail)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (r *Record) appendOutcome(b []byte) []byte {
	b = appendOptional(b, "outcome", string(r.Outcome))
	if r.DurationMs > 0 {
		b = strconv.AppendFloat(append(b, `,"durationMs":`...), r.DurationMs, 'f', 3, 64)
	}
	if r.ResultBytes > 0 {
		b = strconv.AppendInt(append(b, `,"resultBytes":`...), int64(r.ResultBytes), 10)
	}
	return b
}

// appendOnOneLine appends a JSON value without white space between its parts.
func appendOnOneLine(b []byte, value json.RawMessage) ([]byte, error) {
	if isCompact(value) {
		return append(b, value...), nil
	}
	line := bytes.NewBuffer(b)
	if err := json.Compact(line, value); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// appendArguments appends the arguments, on one line, or their digest.
func (r *Record) appendArguments(b []byte, redact *Redactor) ([]byte, error) {
	switch n := len(r.Arguments); {
	case n == 0:
		return b, nil
	case n > maxArguments:
		sum := sha256.Sum256(r.Arguments)
		return fmt.Appendf(b, `,"arguments":{"bytes":%d,"sha256":%q}`, n, hex.EncodeToString(sum[:])), nil
	}
	return appendOnOneLine(append(b, `,"arguments":`...), redact.JSON(r.Arguments))
}

// isCompact reports whether a document is one object or array without white space between
// its parts, as the policy writes them, so that a line can contain it unchanged.
func isCompact(doc []byte) bool {
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c <= ' ':
			return false
		case c == '"':
			end := jsonx.StringEnd(doc, i)
			if end < 0 || jsonx.HasControl(doc[i:end]) {
				return false
			}
			i = end
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 && i < len(doc)-1 {
			return false
		}
	}
	return depth == 0 && len(doc) > 1 && doc[0] != '"'
}

// appendClient appends the client, if there is one.
func appendClient(b []byte, c identity.Client) []byte {
	if c == (identity.Client{}) {
		return b
	}
	b = jsonx.AppendString(append(b, `,"client":{"id":`...), c.ID)
	b = appendOptional(b, "name", c.Name)
	b = appendOptional(b, "terminal", c.Terminal)
	return append(b, '}')
}

// appendOptional appends a member unless it is empty.
func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(b, name, value)
}

// appendText appends a member. Names are those of this file and need no
// escapes.
func appendText(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return jsonx.AppendString(b, value)
}
