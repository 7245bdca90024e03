package broker

import "time"

// EventKind says which member of an Event is set.
type EventKind string

// The kinds of events.
const (
	EventSession    EventKind = "session"    // a session appeared or changed: Session
	EventProgress   EventKind = "progress"   // a step of starting a session: Progress
	EventEscalation EventKind = "escalation" // a call began to wait, or equal calls joined it: Escalation
	EventResolution EventKind = "resolution" // a call stopped waiting: Resolution
	EventEnding     EventKind = "ending"     // how a decided call ended: Ending
	EventReceipt    EventKind = "receipt"    // a receipt was made, was spent or ended: Receipt, without Typing
	// EventAutoApproval is a call that was let through because a receipt ordered
	// it: AutoApproval. There may have been no event for its escalation.
	EventAutoApproval EventKind = "auto-approval"

	EventBudget EventKind = "budget" // a session's usage or allowance changed: Budget
	EventMoving EventKind = "moving" // packages are being downloaded, or no longer are: Moving
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
	Moving       *Moving       `json:"moving,omitempty"`
	AutoApproval *AutoApproval `json:"autoApproval,omitempty"`
	Notice       *Notice       `json:"notice,omitempty"`
}
