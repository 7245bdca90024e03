package broker

import (
	"time"
)

// EventKind says which member of an Event is set.
type EventKind string

// The kinds of events.
const (
	EventSession    EventKind = "session"    // a session appeared or changed: Session
	EventProgress   EventKind = "progress"   // a step of starting a session: Progress
	EventEscalation EventKind = "escalation" // a call began to wait, or more like it came: Escalation
	EventResolution EventKind = "resolution" // a call stopped waiting: Resolution
	EventEnding     EventKind = "ending"     // what became of a call that was decided: Ending
	EventReceipt    EventKind = "receipt"    // a receipt came, was spent or ended: Receipt, without Typing
	// EventAutoApproval is a call that was let through because a receipt ordered
	// it: AutoApproval. Its escalation may never have been told of.
	EventAutoApproval EventKind = "auto-approval"

	EventBudget EventKind = "budget" // what a session has used or may use changed: Budget
	EventNotice EventKind = "notice" // something a person should read: Notice
)

// Event is one change in the broker.
type Event struct {
	Kind         EventKind     `json:"kind"`
	At           time.Time     `json:"at"`
	Session      *Session      `json:"session,omitempty"`
	Progress     *Progress     `json:"progress,omitempty"`
	Escalation   *Escalation   `json:"escalation,omitempty"`
	Resolution   *Resolution   `json:"resolution,omitempty"`
	Ending       *Ending       `json:"ending,omitempty"`
	Receipt      *Receipt      `json:"receipt,omitempty"`
	Budget       *Budget       `json:"budget,omitempty"`
	AutoApproval *AutoApproval `json:"autoApproval,omitempty"`
	Notice       *Notice       `json:"notice,omitempty"`
}

// Progress is a word about a step of starting a session. Of each step there is one
// with Elapsed 0 when it begins and one when it is done or has failed; in between
// they come when a builder says something and every second, but not for every line:
// StartLog has all of them.
type Progress struct {
	Session SessionID     `json:"session"`
	Step    string        `json:"step"`             // "build image shell (step 2 of 3)"
	Detail  string        `json:"detail,omitempty"` // last line of the builder's output, not to be trusted
	Elapsed time.Duration `json:"elapsed"`          // of the step
	Done    bool          `json:"done"`
	Failed  bool          `json:"failed,omitempty"`
	Tail    []string      `json:"tail,omitempty"` // the builder's last lines, when it has failed
}

// Notice is a message for the person.
type Notice struct {
	Session SessionID `json:"session,omitempty"` // empty: the whole program
	Urgent  bool      `json:"urgent"`            // stays until it is read
	Text    string    `json:"text"`
}
