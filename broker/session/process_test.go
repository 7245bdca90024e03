package session

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// However a process' output is copied, no more of it is kept than may be.
func TestLimited(t *testing.T) {
	l := &limited{left: 1000}
	for range 3 {
		if n, err := io.Copy(l, io.LimitReader(strings.NewReader(strings.Repeat("x", 1<<20)), 1<<19)); n != 1<<19 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if n := len(l.String()); n != 1000 {
		t.Errorf("%d bytes are kept", n)
	}
}

// Programs that were installed since a process began are found by it.
func TestOwnAgentIsInstalledLater(t *testing.T) {
	missing := errors.New("there is no such program")
	o := OwnAgent{
		Find: func() (string, error) { return "/bin/agent", missing },
		OnTerminal: func(context.Context, []string, []string, int, int, ...*os.File) (HostTerminal, error) {
			return nil, nil
		},
	}
	if err := o.Check(); !errors.Is(err, errNotInstalled) {
		t.Errorf("it is missing: %v", err)
	}
	if missing = nil; o.Check() != nil {
		t.Errorf("it is installed: %v", o.Check())
	}
	if (OwnAgent{}).Check() == nil {
		t.Error("nothing finds it")
	}
}
