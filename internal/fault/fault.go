// Package fault is the shape of errors that a person reads: what was attempted, why it
// failed, and what to do next.
//
// The next step travels beside the message, because each place that shows an error puts
// it elsewhere: in brackets, on a line of its own, in a member of JSON. A type that
// carries more than these three has a Hint method of its own; Hint finds it, too.
package fault

import (
	"errors"
	"fmt"
)

// Error is a failed operation.
type Error struct {
	Op   string // what was attempted, "start container"; empty where Err says it
	Err  error  // why it failed
	Next string // what to do next, one clause in lower case; may be empty
}

// New makes an error of the next step and a message.
func New(next, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Next: next}
}

// Wrap adds the operation to an error and, where the error knows none, the next step.
// nil stays nil.
func Wrap(op string, err error, next string) error {
	if err == nil {
		return nil
	}
	if known := Hint(err); known != "" {
		next = known
	}
	return &Error{Op: op, Err: err, Next: next}
}

// Error is operation and cause in one line.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint is the next step.
func (e *Error) Hint() string { return e.Next }

// Hint is the next step that an error, or the first of its causes that knows one, has
// to offer; without one it is empty.
func Hint(err error) string {
	for err != nil {
		var h interface {
			error
			Hint() string
		}
		if !errors.As(err, &h) {
			return ""
		}
		if next := h.Hint(); next != "" {
			return next
		}
		err = errors.Unwrap(h)
	}
	return ""
}
