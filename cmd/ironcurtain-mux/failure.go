package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Exit codes of every command, as the command-line contract states them.
const (
	exitOK      = 0 // the work was done
	exitFailure = 1 // the work failed
	exitUsage   = 2 // the command line was wrong
)

// More exit codes of start.
const (
	exitDenied   = 3 // answered, but a call was refused
	exitTimedOut = 4 // --timeout was over
	exitBudget   = 5 // the session's budget was used up
)

// codedError is an error with an exit code of its own.
type codedError struct {
	err  error
	code int
}

func (c *codedError) Error() string { return c.err.Error() }
func (c *codedError) Unwrap() error { return c.err }

// failure is an error for a person: the operation, the cause, and what to do next.
type failure struct {
	op   string
	err  error
	hint string
}

func (f *failure) Error() string {
	s := f.op + ": " + f.err.Error()
	if h := f.Hint(); h != "" {
		s += " (" + h + ")"
	}
	return s
}

func (f *failure) Unwrap() error { return f.err }

// Hint returns what to do next: about a full disk, else the failure's own hint, else the
// hint of the first wrapped error that has one.
func (f *failure) Hint() string { return cmp.Or(fault.Disk(f.err), f.hint, fault.Hint(f.err)) }

// fail wraps err with the operation that failed; nil stays nil. An empty hint stands for
// that of err itself.
func fail(op string, err error, hint string) error {
	if err == nil {
		return nil
	}
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return &failure{op: op, err: err, hint: hint}
}

// usageError marks a wrong command line; it exits with 2.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// usagef reports a wrong command line.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errSilent makes the program exit with 1 without a message, because the command has
// already printed it.
var errSilent = errors.New("")

// report prints err as one line, or as JSON when asked for, and returns its exit code.
func report(w io.Writer, err error, asJSON bool) int {
	if err == nil {
		return exitOK
	}
	code := exitFailure
	var u *usageError
	if errors.As(err, &u) {
		code = exitUsage
	}
	if c := (*codedError)(nil); errors.As(err, &c) {
		code = c.code
	}
	if errors.Is(err, errSilent) {
		return code
	}
	message := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")
	fmt.Fprintf(w, "ironcurtain-mux: %s\n", message)
	if asJSON {
		detail := map[string]string{"op": "", "message": message, "hint": ""}
		var f *failure
		if errors.As(err, &f) {
			detail = map[string]string{"op": f.op, "message": f.err.Error(), "hint": f.Hint()}
		}
		_ = printJSON(w, map[string]any{"error": detail})
	}
	return code
}

// remedyOf returns an error's hint, or the given one when it has none.
func remedyOf(err error, otherwise string) string {
	return cmp.Or(fault.Hint(err), otherwise)
}

// reasonOf returns an error's text without the hint, which is printed on a line of its own.
func reasonOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.op + ": " + f.err.Error()
	}
	return err.Error()
}

// onOneLine separates joined errors by semicolons; nil stays nil.
func onOneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return singleLine{err}
}

// singleLine is an error whose text is one line.
type singleLine struct{ error }

func (e singleLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e singleLine) Unwrap() error { return e.error }
