package mitm

import (
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// Record is one decision, as the audit keeps it. It never holds the value of a
// header field, a query or a byte of a body.
type Record struct {
	Time     time.Time    `json:"ts"`
	Session  string       `json:"session,omitempty"`
	Seq      uint64       `json:"seq"`  // of the decision's request; a response has its request's
	Conn     uint64       `json:"conn"` // of the connection
	Phase    Phase        `json:"phase"`
	Decision Decision     `json:"decision"`
	Reason   Reason       `json:"reason"`
	Detail   string       `json:"detail,omitempty"` // for people; one line, control characters escaped
	Provider string       `json:"provider,omitempty"`
	Host     string       `json:"host,omitempty"`
	Port     string       `json:"port,omitempty"`
	SNI      string       `json:"sni,omitempty"`
	Method   string       `json:"method,omitempty"`
	Path     string       `json:"path,omitempty"` // without the query
	Status   int          `json:"status,omitempty"`
	Key      KeyState     `json:"keyState,omitempty"`
	Stripped []string     `json:"stripped,omitempty"` // what was taken out of the body or the head
	Model    string       `json:"model,omitempty"`
	Digest   string       `json:"digest,omitempty"` // of a request that a person decided
	Ruling   *Ruling      `json:"-"`                // what the person decided
	ReqBytes int64        `json:"reqBytes,omitempty"`
	ResBytes int64        `json:"respBytes,omitempty"`
	TTFB     float64      `json:"ttfbMs,omitempty"` // until the head of the answer
	Duration float64      `json:"durMs,omitempty"`
	Usage    *usage.Count `json:"usage,omitempty"`
	Guessed  bool         `json:"usageGuessed,omitempty"` // the answer broke off, or did not say what it used
	Upstream int          `json:"upstreamStatus,omitempty"`
	Retry    int          `json:"retry,omitempty"`
	Leaks    int          `json:"leaks,omitempty"` // appearances of the real credential that were masked
}

// Phase says on which plane a decision was made.
type Phase string

// The phases of a request's life.
const (
	PhaseConnect  Phase = "connect"
	PhaseTLS      Phase = "tls"
	PhaseRequest  Phase = "request"
	PhaseResponse Phase = "response"
)

// Decision is what was decided.
type Decision string

// The decisions. An error is a refusal that nobody chose: a broken peer, an
// upstream that does not answer.
const (
	Allow  Decision = "allow"
	Deny   Decision = "deny"
	Failed Decision = "error"
)

// KeyState says what the request presented as its credential.
type KeyState string

// The states of a presented credential.
const (
	KeySentinel  KeyState = "sentinel"  // this session's, where it belongs
	KeyMissing   KeyState = "missing"   // none
	KeyMismatch  KeyState = "mismatch"  // in the right place, with another value
	KeyForeign   KeyState = "foreign"   // in the wrong place, or the sentinel of another provider or session
	KeyDuplicate KeyState = "duplicate" // more than one
	KeyNone      KeyState = "none"      // none, at an endpoint that needs none
)

// ActivityKind says what an Activity tells.
type ActivityKind string

// The kinds of activities.
const (
	RequestStarted ActivityKind = "request-started" // a request is being forwarded
	RequestEnded   ActivityKind = "request-ended"   // its answer is complete or broken off
	RequestRefused ActivityKind = "request-refused" // something was refused, see Reason
	KeyLeaked      ActivityKind = "key-leaked"      // the upstream sent the real credential; it was masked
	LoginNeeded    ActivityKind = "login-needed"    // there is no usable credential; Text says what to do
	AuditFailed    ActivityKind = "audit-failed"    // records cannot be stored; everything is refused
)

// Activity tells what goes on, for the state of a tab and the status line.
type Activity struct {
	Kind     ActivityKind
	At       time.Time
	Session  string
	Seq      uint64
	Provider string
	Host     string
	Method   string
	Path     string
	Model    string
	Status   int
	Reason   Reason
	Text     string // one line for the person, where there is one
	Usage    usage.Count
}

var errAudit = errors.New("the audit record could not be stored")
