package broker

import (
	"time"
)

// TrustedInput is text a person entered in command mode.
type TrustedInput struct {
	Session SessionID `json:"session"`
	Text    string    `json:"text"`
	Spans   []Span    `json:"spans"` // which parts were typed and which pasted, in order
}

// Span is a run of bytes of a text that came in one way.
type Span struct {
	Start  int  `json:"start"`
	End    int  `json:"end"`
	Pasted bool `json:"pasted"`
}

// Receipt is the record of one trusted input. Until it ends, at the next input
// of the session or when nothing is left, it may stand for the person's consent
// to calls that it names.
type Receipt struct {
	Number    int       `json:"number"` // from 1 in its session
	Session   SessionID `json:"session"`
	Quote     string    `json:"quote"` // the typed text on one line
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expiresAt"`
	Left      int       `json:"left"` // automatic approvals it is still good for
	// Typing is what to write to the agent's terminal, in order, waiting
	// Pause before each step but the first: agents take text and Enter in one
	// burst for a paste.
	Typing []string      `json:"typing,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"`
}
