package approval

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// Escalation is a call that waits for a person. Callers, the queue and user interfaces all
// use this type.
type Escalation struct {
	ID        string          `json:"id"`
	Number    int             `json:"number"` // short, for /approve N; from 1, growing, never used twice
	Session   string          `json:"session"`
	Agent     string          `json:"agent"`
	Plane     string          `json:"plane"` // "tool", "http" or "package"
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
	// HalfOver means that half of its time is over. While nobody is there, its time is paused, and
	// so is this half.
	HalfOver bool `json:"halfOver,omitempty"`
	// More counts similar calls that were refused without asking, because too many
	// asked.
	More int `json:"more,omitempty"`
	// Likeness is equal for calls that differ only in details. It is empty for a call
	// that is similar to no other.
	Likeness string `json:"likeness,omitempty"`
	// Program is the program that makes the call; nil: the agent makes it by itself.
	Program *ProgramCall `json:"program,omitempty"`
	// Restored means that the call waited in a process that was killed.
	// Unclaimed means that no caller waits for the answer at present. The answer is
	// kept for AnswerHold, in case the same call is made again.
	Restored  bool `json:"restored,omitempty"`
	Unclaimed bool `json:"unclaimed,omitempty"`
	// Auto is the result of the automatic approval; nil when it does not apply. When a
	// model has to judge, Confirm asks the model after the call has begun to wait.
	Auto    *AutoReview `json:"auto,omitempty"`
	Confirm func()      `json:"-"`

	Timeout time.Duration `json:"-"` // 0 means the queue's
	// Offers are the scopes an approval can be remembered for; none means that
	// it cannot.
	Offers []grant.Offer `json:"-"`
	// Call is the call as grants see it.
	Call grant.Call `json:"-"`
	// Ticket is the name by which its client can ask for the call again if this process
	// is killed while the call waits; empty when that is not possible.
	Ticket string `json:"-"`
}

// ProgramCall identifies a call among those of a program.
type ProgramCall struct {
	ID    string `json:"id"`    // of the program's own record in the audit
	Index int    `json:"index"` // from 1
	// Line is the line of the program that makes the call, from 1, and Source the beginning of that
	// line, as the agent wrote it. 0: the line is not known.
	Line   int    `json:"line,omitempty"`
	Source string `json:"source,omitempty"`
}

// Fingerprint returns the fingerprint of the effect, or "" when there is no effect.
func (e *Escalation) Fingerprint() string {
	if e.Effect == nil {
		return ""
	}
	return e.Effect.Fingerprint
}

// identify gives an id to a call that has none.
func (e *Escalation) identify() (err error) {
	if e.ID != "" {
		return nil
	}
	if e.ID, err = NewID(); err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	return nil
}

// AutoReview is the result of the automatic approval for a waiting call.
type AutoReview struct {
	Receipt int       `json:"receipt"`
	Since   time.Time `json:"since"`
	// Reason is why the call is left to a person; empty while a model judges.
	Reason string `json:"reason,omitempty"`
}

// Answer is somebody's decision about an item.
type Answer struct {
	Approve bool
	// Effect is the fingerprint of the effect that was shown: an approval must carry
	// that of the item.
	Effect string
	By     string          // "tui", "cli"
	Client identity.Client // that answered; zero when none did
	Reason string          // told to the agent
	// Remembered describes in full the grant that was made with the approval, for the
	// record.
	Remembered string
	// Grant is the number of the grant that lets the call through, when nobody has
	// approved this call itself.
	Grant int
	// Automatic means that no person saw the call. The audit says so.
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
	Ticket  string // of the item
	Digest  string
	Outcome Outcome
	By      string // "tui", "cli", "deadline", "caller", "broker"
	Client  identity.Client
	Reason  string // told to the agent
	At      time.Time
	// Remembered, Grant, Automatic and Evidence are those of the answer.
	Remembered string
	Grant      int
	Automatic  bool
	Evidence   map[string]any
	Waited     time.Duration // by the monotonic clock, unless it is restored
	Restored   bool          // the call waited in a process that was killed
	Kept       bool          // nobody waited for the answer: it is kept for AnswerHold
	// Shown is the effect of a restored call as a person saw it. Only the caller gets it.
	Shown *preview.Effect
}

// Errors of the queue.
var (
	// ErrClosed means that the queue accepts no more calls.
	ErrClosed = errors.New("approval queue is closed")
	// ErrUnknown means that no item has this id, waiting or settled.
	ErrUnknown = errors.New("no waiting call has this number or id")
	// ErrDigest means that the answer was given for another call.
	ErrDigest = errors.New("the call is not the one that was shown")
	// ErrEffect means that the call was approved for another effect than its own.
	ErrEffect = errors.New("what the call would do is not what was shown")
)

// NewID returns a random UUID, version 4.
func NewID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
