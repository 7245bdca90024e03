package main

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
		{"success", nil, false, exitOK, ""},
		{"plain", errors.New("broken"), false, exitFailure, "ironcurtain-mux: broken\n"},
		{"operation", fail("open", errors.New("broken"), ""), false, exitFailure, "ironcurtain-mux: open: broken\n"},
		{"own hint", fail("open", wrapped, "try again"), false, exitFailure, "ironcurtain-mux: open: connect: no engine (try again)\n"},
		{"hint of the cause", fail("open", wrapped, ""), false, exitFailure, "ironcurtain-mux: open: connect: no engine (start it)\n"},
		{
			"a full disk", fail("open", &fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.ENOSPC}, "make it writable"), false, exitFailure,
			"ironcurtain-mux: open: mkdir /x: no space left on device (the disk is full: make room on it)\n",
		},
		{
			"a quota", fail("open", fmt.Errorf("write: %w", syscall.EDQUOT), "make it writable"), false, exitFailure,
			"ironcurtain-mux: open: write: disk quota exceeded (your quota on the disk is used up: make room, or have it raised)\n",
		},
		{
			"a disk for reading", fail("open", errors.Join(hinted{}, syscall.EROFS), ""), false, exitFailure,
			"ironcurtain-mux: open: no engine read-only file system (the disk is mounted read-only: mount it writable, or use a directory on another one)\n",
		},
		{"no permission", fail("open", syscall.EACCES, "make it writable"), false, exitFailure, "ironcurtain-mux: open: permission denied (make it writable)\n"},
		{"failed twice", fail("start", fail("open", errors.New("broken"), ""), ""), false, exitFailure, "ironcurtain-mux: open: broken\n"},
		{"usage", usagef("no such flag"), false, exitUsage, "ironcurtain-mux: no such flag\n"},
		{"several lines", errors.New("one\ntwo\n"), false, exitFailure, "ironcurtain-mux: one two\n"},
		{"silent", errSilent, false, exitFailure, ""},
		{
			"as JSON", fail("open", wrapped, ""), true, exitFailure,
			"ironcurtain-mux: open: connect: no engine (start it)\n" +
				`{"error":{"hint":"start it","message":"connect: no engine","op":"open"}}` + "\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w bytes.Buffer
			if code := report(&w, tt.err, tt.asJSON); code != tt.code || w.String() != tt.want {
				t.Errorf("exits %d with %q, want %d with %q", code, w.String(), tt.code, tt.want)
			}
		})
	}
	if fail("open", nil, "hint") != nil {
		t.Error("success became a failure")
	}
}

func TestJoinedErrorsAreOneLine(t *testing.T) {
	joined := errors.Join(io.EOF, errors.Join(io.ErrClosedPipe, io.ErrNoProgress))
	err := onOneLine(joined)
	if want := "EOF; io: read/write on closed pipe; multiple Read calls return no data or error"; err.Error() != want || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %q", err)
	}
	if onOneLine(nil) != nil {
		t.Error("no error became one")
	}
}
