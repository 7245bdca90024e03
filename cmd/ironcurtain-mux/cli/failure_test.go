package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"
)

// hinted is an error of another package that knows what to do next.
type hinted struct{}

func (hinted) Error() string { return "no engine" }
func (hinted) Hint() string  { return "start it" }

func TestReport(t *testing.T) {
	wrapped := fmt.Errorf("connect: %w", hinted{})
	tests := []struct {
		name   string
		err    error
		asJSON bool
		code   int
		want   string
	}{
		{"success", nil, false, ExitOK, ""},
		{"plain", errors.New("broken"), false, ExitFailure, "ironcurtain-mux: broken\n"},
		{"operation", Fail("open", errors.New("broken"), ""), false, ExitFailure, "ironcurtain-mux: open: broken\n"},
		{"own hint", Fail("open", wrapped, "try again"), false, ExitFailure, "ironcurtain-mux: open: connect: no engine (try again)\n"},
		{"hint of the cause", Fail("open", wrapped, ""), false, ExitFailure, "ironcurtain-mux: open: connect: no engine (start it)\n"},
		{
			"a full disk", Fail("open", &fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.ENOSPC}, "make it writable"), false, ExitFailure,
			"ironcurtain-mux: open: mkdir /x: no space left on device (the disk is full: make room on it)\n",
		},
		{
			"a quota", Fail("open", fmt.Errorf("write: %w", syscall.EDQUOT), "make it writable"), false, ExitFailure,
			"ironcurtain-mux: open: write: disk quota exceeded (your quota on the disk is used up: make room, or have it raised)\n",
		},
		{
			"a disk for reading", Fail("open", errors.Join(hinted{}, syscall.EROFS), ""), false, ExitFailure,
			"ironcurtain-mux: open: no engine read-only file system (the disk is mounted read-only: mount it writable, or use a directory on another one)\n",
		},
		{"no permission", Fail("open", syscall.EACCES, "make it writable"), false, ExitFailure, "ironcurtain-mux: open: permission denied (make it writable)\n"},
		{"failed twice", Fail("start", Fail("open", errors.New("broken"), ""), ""), false, ExitFailure, "ironcurtain-mux: open: broken\n"},
		{"usage", Usagef("no such flag"), false, ExitUsage, "ironcurtain-mux: no such flag\n"},
		{"several lines", errors.New("one\ntwo\n"), false, ExitFailure, "ironcurtain-mux: one two\n"},
		{"silent", ErrSilent, false, ExitFailure, ""},
		{
			"as JSON", Fail("open", wrapped, ""), true, ExitFailure,
			"ironcurtain-mux: open: connect: no engine (start it)\n" +
				`{"error":{"hint":"start it","message":"connect: no engine","op":"open"}}` + "\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w bytes.Buffer
			if code := Report(&w, tt.err, tt.asJSON); code != tt.code || w.String() != tt.want {
				t.Errorf("exits %d with %q, want %d with %q", code, w.String(), tt.code, tt.want)
			}
		})
	}
	if Fail("open", nil, "hint") != nil {
		t.Error("success became a failure")
	}
}

func TestJoinedErrorsAreOneLine(t *testing.T) {
	joined := errors.Join(io.EOF, errors.Join(io.ErrClosedPipe, io.ErrNoProgress))
	err := OnOneLine(joined)
	if want := "EOF; io: read/write on closed pipe; multiple Read calls return no data or error"; err.Error() != want || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %q", err)
	}
	if OnOneLine(nil) != nil {
		t.Error("no error became one")
	}
}
