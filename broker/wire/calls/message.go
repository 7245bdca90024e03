package calls

import (
	"encoding/json"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// request is a frame of the caller: a call, or the id of one that it gives up.
type request struct {
	ID     uint64            `json:"id,omitempty"`
	Method string            `json:"method,omitempty"`
	Params []json.RawMessage `json:"params,omitempty"`
	Cancel uint64            `json:"cancel,omitempty"`
}

// answer is a frame of the other side. It has one member beside the id.
type answer struct {
	ID     uint64          `json:"id"`
	Part   []byte          `json:"part,omitempty"` // of a result that is null in the answer
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	Event  json.RawMessage `json:"event,omitempty"`
}

// maxPart is the length in bytes of a part of a result. In a frame it is longer by a third.
const maxPart = 512 << 10

// maxResult is the length in bytes of the longest result.
const maxResult = 64 << 20

// maxCalls is how many calls of a connection may be under way, subscriptions included.
const maxCalls = 32

// Error is the error with which the broker has answered.
type Error struct {
	Op      string `json:"op,omitempty"`
	Message string `json:"message"`
	Next    string `json:"hint,omitempty"`
}

func (e *Error) Error() string {
	if e.Op == "" {
		return e.Message
	}
	return e.Op + ": " + e.Message
}

// Hint is the next thing to do.
func (e *Error) Hint() string { return e.Next }

// errorOf prepares an error to be sent.
func errorOf(err error) *Error {
	out := &Error{Message: err.Error(), Next: fault.Hint(err)}
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Error() == out.Message && f.Op != "" {
		out.Op, out.Message = f.Op, f.Err.Error()
	}
	return out
}
