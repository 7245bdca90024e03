package broker

import "github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"

// Ending is what became of a call after it was decided: an approval is no promise that
// it was done. It is plain data. Its reason is not safe to draw as it is.
type Ending = approval.Ending

// EndState says what became of a call that was decided.
type EndState = approval.EndState

// The states in which a call can end.
const (
	EndDone    = approval.EndDone
	EndFailed  = approval.EndFailed
	EndRefused = approval.EndRefused
	EndKept    = approval.EndKept
)
