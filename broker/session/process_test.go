package session

import (
	"context"
	"errors"
	"os"
	"testing"
)

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
