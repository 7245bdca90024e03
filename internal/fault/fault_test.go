package fault_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestHint(t *testing.T) {
	knows := fault.New("start it", "no engine at %s", "here")
	mute := fault.Wrap("connect", io.EOF, "")
	for name, c := range map[string]struct {
		err        error
		text, hint string
	}{
		"nothing":                       {nil, "", ""},
		"an error of others":            {io.EOF, "EOF", ""},
		"its own":                       {knows, "no engine at here", "start it"},
		"its cause's":                   {fmt.Errorf("open: %w", knows), "open: no engine at here", "start it"},
		"none":                          {mute, "connect: EOF", ""},
		"the cause's before the caller": {fault.Wrap("run", knows, "try again"), "run: no engine at here", "start it"},
		"the caller's":                  {fault.Wrap("run", mute, "try again"), "run: connect: EOF", "try again"},
		"behind one that knows none":    {&fault.Error{Op: "run", Err: fault.Wrap("x", knows, "")}, "run: x: no engine at here", "start it"},
		"of a full disk":                {fault.Wrap("write", syscall.ENOSPC, "make it writable"), "write: no space left on device", "the disk is full: make room on it"},
		"of several":                    {errors.Join(io.EOF, knows), "EOF\nno engine at here", "start it"},
		"of several, one of them mute":  {fmt.Errorf("end: %w", errors.Join(mute, knows)), "end: connect: EOF\nno engine at here", "start it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fault.Hint(c.err); got != c.hint {
				t.Errorf("hint %q, want %q", got, c.hint)
			}
			if c.err != nil && c.err.Error() != c.text {
				t.Errorf("text %q, want %q", c.err, c.text)
			}
		})
	}
	if fault.Wrap("run", nil, "try again") != nil {
		t.Error("nil did not stay nil")
	}
	if !errors.Is(fault.Wrap("run", io.EOF, ""), io.EOF) {
		t.Error("the cause was lost")
	}
}

func TestWithoutPath(t *testing.T) {
	for name, c := range map[string]struct{ err, want error }{
		"nothing":   {nil, nil},
		"another":   {io.EOF, io.EOF},
		"of a file": {fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission}), fs.ErrPermission},
		"of two":    {&os.LinkError{Op: "rename", Old: "/a", New: "/b", Err: fs.ErrExist}, fs.ErrExist},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fault.WithoutPath(c.err); got != c.want { //nolint:errorlint // exactly this one
				t.Errorf("it is %v, want %v", got, c.want)
			}
		})
	}
}
