package approval

import "strings"

// EndState says how the call of a settled item ended.
type EndState string

// The states in which a call can end.
const (
	EndDone    EndState = "done"
	EndFailed  EndState = "failed"  // the call was begun
	EndRefused EndState = "refused" // the call was not begun
	// EndKept means that no caller waited for the answer. The answer is recorded and
	// kept for AnswerHold. The call that takes it has an ending of its own.
	EndKept EndState = "kept"
)

// Ending says how a call ended after its item was settled.
type Ending struct {
	ID      string   `json:"id"` // of the item
	Number  int      `json:"number"`
	Session string   `json:"session"`
	State   EndState `json:"state"`
	// Reason is why the call failed or was refused; it is not to be trusted. It is
	// empty when a person denied the call, unless that could not be recorded.
	Reason string `json:"reason,omitempty"`
}

// Expected reports whether the call was refused only because somebody denied it.
func (e Ending) Expected() bool { return e.State == EndRefused && e.Reason == "" }

// Text is the ending in words. It contains the reason unescaped.
func (e Ending) Text() string {
	switch {
	case e.State == EndDone:
		return "the call is done"
	case e.State == EndKept:
		return "its agent does not wait at present; the answer is kept 5 minutes for the same call, once"
	case e.State == EndFailed:
		return "the call failed: " + e.Reason
	case e.Reason == "":
		return "the call was refused"
	}
	return "the call was refused because " + e.Reason
}

// maxReason bounds the reason of an ending, in bytes.
const maxReason = 600

// Ended reports to all subscribers how the call of a settled item ended. Only the first
// report counts. Ended does nothing for an item that the queue has forgotten.
func (q *Queue) Ended(id string, state EndState, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.settled[id]
	if s == nil || s.ended {
		return
	}
	s.ended = state != EndKept
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	q.announce(Change{Ended: &Ending{ID: id, Number: s.res.Number, Session: s.res.Session, State: state, Reason: reason}})
}

// settledItem is an item that no longer waits.
type settledItem struct {
	res   Resolution
	ended bool // the end of its call was reported
}
