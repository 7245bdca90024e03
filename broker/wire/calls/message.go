package calls

import (
	"encoding/json"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// request is a frame of the caller: a call, or the id of a call that it gives up.
type request struct {
	ID     uint64            `json:"id,omitempty"`
	Method string            `json:"method,omitempty"`
	Params []json.RawMessage `json:"params,omitempty"`
	Cancel uint64            `json:"cancel,omitempty"`
}

// answer is a frame of the broker's side. It has one member in addition to the id.
type answer struct {
	ID     uint64          `json:"id"`
	Part   []byte          `json:"part,omitempty"` // of a result; the answer then has null as its result
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	Event  json.RawMessage `json:"event,omitempty"`
}

// maxPart is the length of a part of a result, in bytes. Base64 makes it a third longer in a frame.
const maxPart = 512 << 10

// maxResult is the length of the longest result, in bytes.
const maxResult = 64 << 20

// maxCalls is how many calls of a connection may be under way at a time, with subscriptions.
const maxCalls = 32

// Error is an error of the broker.
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

// Hint returns the next thing to do.
func (e *Error) Hint() string { return e.Next }

// errorOf converts an error for sending.
func errorOf(err error) *Error {
	out := &Error{Message: err.Error(), Next: fault.Hint(err)}
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Error() == out.Message && f.Op != "" {
		out.Op, out.Message = f.Op, f.Err.Error()
	}
	return out
}
