package broker

import (
	"encoding/json"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// Escalation is a call that waits for a person.
type Escalation = approval.Escalation

// AutoReview says whether the automatic approval still judges a waiting call, or why it
// left the call to a person.
type AutoReview = approval.AutoReview

// ProgramCall says which call of a program this is, and on which line the program makes it.
type ProgramCall = approval.ProgramCall

// Client is a process at a person's side that decides or asks for something.
type Client = identity.Client

// The ways in which a person decides at a view.
const (
	ByLine = identity.ByLine
	ByKey  = identity.ByKey
)

// Decision answers one escalation.
type Decision struct {
	ID     string `json:"id"`
	Digest string `json:"digest"` // of the call that the person saw; it must still match
	// Effect is the fingerprint of the effect that the person saw. An approval needs
	// it, unless the call has no effect.
	Effect  string `json:"effect,omitempty"`
	Approve bool   `json:"approve"`
	Reason  string `json:"reason,omitempty"` // told to the agent when denied
	By      string `json:"by"`               // ByLine, ByKey, "cli"
	Client  Client `json:"client,omitzero"`  // that decides; a daemon says so itself
	// Remember makes an approval apply to later calls too.
	Remember *Remember `json:"remember,omitempty"`
}

// Remember says for which calls and for how long an approval is remembered.
type Remember struct {
	Scope   string `json:"scope"`             // the name of one of the call's scopes
	Seconds int    `json:"seconds,omitempty"` // from now; 0 means 15 minutes
}

// Scope is one way to remember the approval of a call.
type Scope struct {
	Name    string `json:"name"`    // "exact", "file", "host", "remote", "target" or "directory"
	Text    string `json:"text"`    // which calls would be let through, in full, values quoted
	Matched int    `json:"matched"` // past calls it would have let through
	Past    int    `json:"past"`    // past calls of the tool that were looked at
}

// Grant is an approval that is remembered and applies to later calls. It ends with its
// session.
type Grant struct {
	Number    int       `json:"number"` // from 1, never reused
	Session   SessionID `json:"session"`
	Agent     string    `json:"agent"`
	Scope     string    `json:"scope"`
	Text      string    `json:"text"` // which calls it lets through, in full, values quoted
	By        string    `json:"by"`   // "tui", "cli"
	Client    Client    `json:"client,omitzero"`
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expiresAt"`
	Used      int       `json:"used"` // calls it has let through
}

// Revocation ends a grant.
type Revocation struct {
	Number int    `json:"number"` // of the grant
	By     string `json:"by"`     // "tui", "cli"
	Client Client `json:"client,omitzero"`
}

// Decided is one decision as the audit recorded it.
type Decided struct {
	At        time.Time       `json:"at"`
	Session   SessionID       `json:"session"`
	Agent     string          `json:"agent"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // canonical, secrets masked
	Decision  string          `json:"decision"`            // "escalated-approved", "granted" and so on
	By        string          `json:"by,omitempty"`
	Client    Client          `json:"client,omitzero"`
	Waited    time.Duration   `json:"waited,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Detail    map[string]any  `json:"detail,omitempty"` // the grant or receipt behind the decision
}

// Outcome is how an escalation ended.
type Outcome = approval.Outcome

// The outcomes of an escalation.
const (
	Approved  = approval.Approved
	Denied    = approval.Denied
	Expired   = approval.Expired
	Withdrawn = approval.Withdrawn // the agent cancelled the call or its session ended
)

// Resolution is the one answer an escalation got.
type Resolution struct {
	ID      string    `json:"id"`
	Number  int       `json:"number"`
	Session SessionID `json:"session"`
	Outcome Outcome   `json:"outcome"`
	By      string    `json:"by"`
	Client  Client    `json:"client,omitzero"`
	At      time.Time `json:"at"`
	Won     bool      `json:"won"` // whether this call of Decide decided it
	// Grant is the number of the grant that this decision made, or 0.
	Grant int `json:"grant,omitempty"`
	// Kept says that no caller waited for the answer. The answer is kept for five
	// minutes, for one call with the same digest.
	Kept bool `json:"kept,omitempty"`
}
