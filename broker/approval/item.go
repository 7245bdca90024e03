package approval

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// Escalation is a call that waits for a person: from the one who asks, through the
// queue, to every user interface.
type Escalation struct {
	ID        string          `json:"id"`
	Number    int             `json:"number"` // short, for /approve N; from 1, growing, never used twice
	Session   string          `json:"session"`
	Tab       int             `json:"tab"`
	Plane     string          `json:"plane"` // "tool" or "http"
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`           // canonical: what will be forwarded
	Requested json.RawMessage `json:"requested,omitempty"` // as the agent wrote it
	// Effect is what it would do; nil when the arguments say it all.
	Effect    *preview.Effect `json:"effect,omitempty"`
	Rule      string          `json:"rule"`
	Reason    string          `json:"reason"`
	Digest    string          `json:"digest"` // of server, tool and canonical arguments: binds the answer to the call
	AskedAt   time.Time       `json:"askedAt"`
	ExpiresAt time.Time       `json:"expiresAt"`
	// More counts calls like it that were refused without asking, because too
	// many asked.
	More int `json:"more,omitempty"`
	// Likeness is the same for calls that differ in details only; empty for a
	// call that is like no other.
	Likeness string `json:"likeness,omitempty"`
	// Restored says that a process was asked that was killed while the call waited.
	// Unclaimed says that no caller waits for the answer at present: it is
	// kept for AnswerHold, for the same call should it be made again.
	Restored  bool `json:"restored,omitempty"`
	Unclaimed bool `json:"unclaimed,omitempty"`
	// Auto is what the automatic approval makes of it; nil when it has no say. While a
	// model judges, Confirm does that, once the call waits.
	Auto    *AutoReview `json:"auto,omitempty"`
	Confirm func()      `json:"-"`
	// Multiplexer says which of several on one home it belongs to, from 1; 0 when there
	// is but one. Numbers of tabs and calls are each multiplexer's own.
	Multiplexer int `json:"multiplexer,omitempty"`

	Timeout time.Duration `json:"-"` // 0 means the queue's
	// Offers are the scopes an approval can be remembered for; none means that
	// it cannot.
	Offers []grant.Offer `json:"-"`
	// Call is the call as grants see it.
	Call grant.Call `json:"-"`
	// Ticket is what its client can ask for it by, should this process be killed
	// while it waits; empty when it cannot.
	Ticket string `json:"-"`
}

// Fingerprint is that of the effect; empty when there is none.
func (e *Escalation) Fingerprint() string {
	if e.Effect == nil {
		return ""
	}
	return e.Effect.Fingerprint
}

// identify draws an id for a call that has none.
func (e *Escalation) identify() (err error) {
	if e.ID != "" {
		return nil
	}
	if e.ID, err = NewID(); err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	return nil
}

// AutoReview is what the automatic approval makes of a call that waits.
type AutoReview struct {
	Receipt int       `json:"receipt"`
	Since   time.Time `json:"since"`
	// Reason is why the call is left to a person; empty while a model judges.
	Reason string `json:"reason,omitempty"`
}

// Answer is what somebody makes of an item.
type Answer struct {
	Approve bool
	// Effect is the fingerprint of the effect that was shown: an approval must carry
	// that of the item.
	Effect string
	By     string // "tui", "cli"
	Reason string // told to the agent
	// Remembered says in full which standing permission comes with the
	// approval, for the record.
	Remembered string
	// Grant is the number of the standing permission that lets the call through,
	// when it is not this very call that somebody approved.
	Grant int
	// Automatic tells that no person saw the call: the audit says so.
	Automatic bool
	// Evidence is what an automatic approval rests on, for the record.
	Evidence map[string]any
}

// Outcome is how an item ended.
type Outcome string

// The outcomes.
const (
	Approved  Outcome = "approved"
	Denied    Outcome = "denied"
	Expired   Outcome = "expired"
	Withdrawn Outcome = "withdrawn"
)

// Resolution is the one end of an item.
type Resolution struct {
	ID      string
	Number  int
	Session string
	Digest  string
	Outcome Outcome
	By      string // "tui", "cli", "deadline", "caller", "broker"
	Reason  string // told to the agent
	At      time.Time
	// Remembered, Grant, Automatic and Evidence are those of the answer.
	Remembered string
	Grant      int
	Automatic  bool
	Evidence   map[string]any
	Waited     time.Duration // by the monotonic clock, unless it is restored
	Restored   bool          // it was asked of a process that was killed
	Kept       bool          // nobody waited for the answer: it stands for AnswerHold
	// Shown is what a person saw of the effect of a restored call; only the
	// caller has it.
	Shown *preview.Effect
}

// Errors of the queue.
var (
	// ErrClosed means that the queue takes no more calls.
	ErrClosed = errors.New("approval queue is closed")
	// ErrUnknown means that no item has this id, waiting or settled.
	ErrUnknown = errors.New("no such escalation")
	// ErrDigest means that the answer was given for another call.
	ErrDigest = errors.New("the call is not the one that was shown")
	// ErrEffect means that the call was approved for another effect than its own.
	ErrEffect = errors.New("what the call would do is not what was shown")
)

// NewID draws a UUID of version 4.
func NewID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
