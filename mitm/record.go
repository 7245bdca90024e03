package mitm

import (
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// Record is one decision for the audit. It never contains the value of a header field, a
// query or any part of a body.
type Record struct {
	Time     time.Time    `json:"ts"`
	Session  string       `json:"session,omitempty"`
	Seq      uint64       `json:"seq"`  // number of the request; a response has its request's
	Conn     uint64       `json:"conn"` // number of the connection
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
	Stripped []string     `json:"stripped,omitempty"` // what was removed from the body or the head
	Model    string       `json:"model,omitempty"`
	Digest   string       `json:"digest,omitempty"` // of a request that a person decided
	Ruling   *Ruling      `json:"-"`                // what the person decided
	ReqBytes int64        `json:"reqBytes,omitempty"`
	ResBytes int64        `json:"respBytes,omitempty"`
	TTFB     float64      `json:"ttfbMs,omitempty"` // until the head of the answer
	Duration float64      `json:"durMs,omitempty"`
	Usage    *usage.Count `json:"usage,omitempty"`
	Guessed  bool         `json:"usageGuessed,omitempty"` // the answer was incomplete, or did not report its usage
	Upstream int          `json:"upstreamStatus,omitempty"`
	Retry    int          `json:"retry,omitempty"`
	Leaks    int          `json:"leaks,omitempty"` // appearances of the real credential that were masked
}

// Phase says how far a connection was when a decision was made.
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

// The decisions. Failed means a failure and not a decision, such as a broken peer or an
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

// ActivityKind says what an Activity reports.
type ActivityKind string

// The kinds of activities.
const (
	RequestStarted ActivityKind = "request-started" // a request is being forwarded
	RequestEnded   ActivityKind = "request-ended"   // its answer is complete, or ended early
	RequestRefused ActivityKind = "request-refused" // it was refused and not forwarded
	KeyLeaked      ActivityKind = "key-leaked"      // the upstream sent the real credential; it was masked
	LoginNeeded    ActivityKind = "login-needed"    // there is no usable credential; Text says what to do
	AcceptFailed   ActivityKind = "accept-failed"   // a connection could not be let in for now; Text says why
)

// Activity is an event for the state of a tab and the status line.
type Activity struct {
	Kind  ActivityKind
	Seq   uint64 // of the request, if there is one
	Host  string // of KeyLeaked, with Path
	Path  string
	Model string // of RequestEnded, with Usage
	Usage usage.Count
	Text  string // one line for the person; may be empty
}

var errAudit = errors.New("the audit record could not be stored")
