package broker

import "github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"

// Ending says how a call ended after it was decided, because an approved call can still
// fail. It is plain data. Its reason must be sanitized before it is drawn.
type Ending = approval.Ending

// EndState says how a decided call ended.
type EndState = approval.EndState

// The states in which a call can end.
const (
	EndDone    = approval.EndDone
	EndFailed  = approval.EndFailed
	EndRefused = approval.EndRefused
	EndKept    = approval.EndKept
)
