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
	"syscall"
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

// diskHints are the next steps where a disk takes nothing, whoever tried to write to it.
var diskHints = []struct {
	cause error
	next  string
}{
	{syscall.ENOSPC, "the disk is full: make room on it"},
	{syscall.EDQUOT, "your quota on the disk is used up: make room, or have it raised"},
	{syscall.EROFS, "the disk is mounted read-only: mount it writable, or use a directory on another one"},
}

// Disk is the next step for an error whose cause is a disk that takes nothing, and
// empty for any other. It is truer than what whoever tried to write can know.
func Disk(err error) string {
	for _, d := range diskHints {
		if errors.Is(err, d.cause) {
			return d.next
		}
	}
	return ""
}

// Hint is the next step for an error: that of a disk which takes nothing, else what the
// error, or the first of its causes that knows one, has to offer, else nothing.
func Hint(err error) string {
	if next := Disk(err); next != "" {
		return next
	}
	return first(err)
}

// first is the next step that the error knows, or the first of its causes.
func first(err error) string {
	if h, ok := any(err).(interface{ Hint() string }); ok {
		if next := h.Hint(); next != "" {
			return next
		}
	}
	switch e := any(err).(type) {
	case interface{ Unwrap() error }:
		return first(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, cause := range e.Unwrap() {
			if next := first(cause); next != "" {
				return next
			}
		}
	}
	return ""
}
