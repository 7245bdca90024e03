package wire

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
)

// The kinds of frames about answer tokens. The daemon answers the first one with Tokens, the
// second one with Made, the third one with End, and each with Refused.
const (
	KindTokens      = "tokens"      // asks for the tokens, in place of KindView
	KindMakeToken   = "makeToken"   // MakeToken, in place of KindView
	KindRevokeToken = "revokeToken" // RevokeToken, in place of KindView
	KindMade        = "made"        // Made
)

// Tokens are the answer tokens.
type Tokens struct {
	Tokens []token.Token `json:"tokens"`
}

// MakeToken asks for a token.
type MakeToken struct {
	Name     string        `json:"name"`
	Sessions []string      `json:"sessions"` // full ids
	DenyOnly bool          `json:"denyOnly,omitempty"`
	Life     time.Duration `json:"life"`
}

// Made is a new token. Only its owner may see it.
type Made struct {
	Secret string `json:"secret"`
}

// RevokeToken ends a token.
type RevokeToken struct {
	Name string `json:"name"`
}
