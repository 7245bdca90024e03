// Package fault makes errors that a person reads: what was attempted, why it failed, and
// what to do next.
//
// The next step is separate from the message, because it is shown in different places: in
// brackets, on a line of its own, in a member of JSON. Other error types can have a Hint
// method of their own, which Hint finds as well.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Error is a failed operation.
type Error struct {
	Op   string // what was attempted, "start container"; empty if Err says it
	Err  error  // why it failed
	Next string // what to do next, one clause in lower case; may be empty
}

// New makes an error of the next step and a message.
func New(next, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Next: next}
}

// Wrap adds the operation to an error, and the next step if the error has none. nil stays
// nil.
func Wrap(op string, err error, next string) error {
	if err == nil {
		return nil
	}
	if known := Hint(err); known != "" {
		next = known
	}
	return &Error{Op: op, Err: err, Next: next}
}

// Error returns operation and cause in one line.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the next step.
func (e *Error) Hint() string { return e.Next }

// WithoutPath returns the cause of a failed operation on a file without the path, for a message that
// names the file already.
func WithoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// diskHints are the next steps for a disk that cannot be written to.
var diskHints = []struct {
	cause error
	next  string
}{
	{syscall.ENOSPC, "the disk is full: make room on it"},
	{syscall.EDQUOT, "your quota on the disk is used up: make room, or have it raised"},
	{syscall.EROFS, "the disk is mounted read-only: mount it writable, or use a directory on another one"},
}

// Disk returns the next step for an error whose cause is a disk that cannot be written to,
// and "" for any other. It is more precise than the hint of the failed operation.
func Disk(err error) string {
	for _, d := range diskHints {
		if errors.Is(err, d.cause) {
			return d.next
		}
	}
	return ""
}

// Hint returns the next step for an error: that of Disk, else that of the error or of its
// first cause that has one, else "".
func Hint(err error) string {
	if next := Disk(err); next != "" {
		return next
	}
	return first(err)
}

// first returns the next step of the error or of its first cause that has one.
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
