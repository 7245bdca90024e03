package broker

import (
	"time"
)

// TrustedInput is text a person entered in command mode.
type TrustedInput struct {
	Session SessionID `json:"session"`
	Text    string    `json:"text"`
	Spans   []Span    `json:"spans"` // which parts were typed and which pasted, in order
	Client  Client    `json:"client,omitzero"`
}

// Span is a part of a text, in bytes, that was either typed or pasted as a whole.
type Span struct {
	Start  int  `json:"start"`
	End    int  `json:"end"`
	Pasted bool `json:"pasted"`
}

// Receipt is the record of one trusted input. It may count as the person's consent
// to calls that it names. It ends with the next input of the session, or when no
// automatic approval is left.
type Receipt struct {
	Number    int       `json:"number"` // from 1 in its session; 0: the session approves nothing automatically
	Session   SessionID `json:"session"`
	ExpiresAt time.Time `json:"expiresAt"`
	Left      int       `json:"left"` // how many calls it can still approve
	// Typing is what to write to the agent's terminal, in order. The writer waits
	// for Pause before each step but the first, because agents take text and Enter
	// in one burst for a paste.
	Typing []string      `json:"typing,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"`
}
