package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Exit codes of every command, as the command-line contract states them.
const (
	ExitOK      = 0 // the work was done
	ExitFailure = 1 // the work failed
	ExitUsage   = 2 // the command line was wrong
)

// More exit codes of start.
const (
	ExitDenied   = 3 // answered, but a call was refused
	ExitTimedOut = 4 // --timeout has passed
	ExitBudget   = 5 // the session's budget was used up
)

// CodedError is an error with an exit code of its own.
type CodedError struct {
	Err  error
	Code int
}

func (c *CodedError) Error() string { return c.Err.Error() }
func (c *CodedError) Unwrap() error { return c.Err }

// Failure is an error for a person: the operation, the cause, and what to do next.
type Failure struct {
	Op   string
	Err  error
	Next string
}

func (f *Failure) Error() string {
	s := f.Op + ": " + f.Err.Error()
	if h := f.Hint(); h != "" {
		s += " (" + h + ")"
	}
	return s
}

func (f *Failure) Unwrap() error { return f.Err }

// Hint returns what to do next: the hint about a full disk, else the failure's own hint, else
// the hint of the first wrapped error that has one.
func (f *Failure) Hint() string { return cmp.Or(fault.Disk(f.Err), f.Next, fault.Hint(f.Err)) }

// Fail wraps err with the operation that failed; nil stays nil. With an empty hint, the hint of
// err itself is shown.
func Fail(op string, err error, hint string) error {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return err
	}
	return &Failure{Op: op, Err: err, Next: hint}
}

// UsageError marks a wrong command line; it exits with 2.
type UsageError struct{ Err error }

func (u *UsageError) Error() string { return u.Err.Error() }
func (u *UsageError) Unwrap() error { return u.Err }

// Usagef reports a wrong command line.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// ErrSilent makes the program exit with 1 without a message, because the command has
// already printed it.
var ErrSilent = errors.New("")

// Report prints err as one line, and with asJSON also as JSON, and returns its exit code. On a
// terminal, the excerpt of a file follows, if the error has one.
func Report(w io.Writer, err error, asJSON bool) int {
	if err == nil {
		return ExitOK
	}
	code := ExitFailure
	var u *UsageError
	if errors.As(err, &u) {
		code = ExitUsage
	}
	if c := (*CodedError)(nil); errors.As(err, &c) {
		code = c.Code
	}
	if errors.Is(err, ErrSilent) {
		return code
	}
	message := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")
	fmt.Fprintf(w, "ironcurtain-mux: %s\n", message)
	if of := (interface{ Excerpt() string })(nil); TerminalIn(w) != nil && errors.As(err, &of) {
		fmt.Fprint(w, of.Excerpt())
	}
	if asJSON {
		detail := map[string]string{"op": "", "message": message, "hint": ""}
		var f *Failure
		if errors.As(err, &f) {
			detail = map[string]string{"op": f.Op, "message": f.Err.Error(), "hint": f.Hint()}
		}
		_ = PrintJSON(w, map[string]any{"error": detail})
	}
	return code
}

// RemedyOf returns an error's hint, or the given one when it has none.
func RemedyOf(err error, otherwise string) string {
	return cmp.Or(fault.Hint(err), otherwise)
}

// ReasonOf returns an error's text without the hint, which is printed on a line of its own.
func ReasonOf(err error) string {
	var f *Failure
	if errors.As(err, &f) {
		return f.Op + ": " + f.Err.Error()
	}
	return err.Error()
}

// OnOneLine separates joined errors by semicolons; nil stays nil.
func OnOneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return singleLine{err}
}

// singleLine is an error whose text is one line.
type singleLine struct{ error }

func (e singleLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e singleLine) Unwrap() error { return e.error }

// AsInterrupt replaces the error of an operation that a signal has interrupted.
func AsInterrupt(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	op := "run"
	var f *Failure
	if errors.As(err, &f) {
		op = f.Op
	}
	return &Failure{Op: op, Err: errors.New("interrupted by a signal"), Next: "run it again"}
}
