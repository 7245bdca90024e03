package session

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// A tab that has lost a socket says so: its agent cannot tell that from a slow host.
func TestATabSaysWhenItsToolsAreGone(t *testing.T) {
	s, _, _ := askingSession(t)
	notices := heard(s).notices
	broken := errors.New("the socket is gone")
	if err := <-s.letIn("tools", func(net.Listener) error { return broken }, nil); !errors.Is(err, broken) {
		t.Errorf("serving ended with %v", err)
	}
	e := <-notices
	if !e.Urgent || !strings.Contains(e.Text, "tools") || !strings.Contains(e.Text, "/restart") {
		t.Errorf("the person is told %+v", e)
	}
	if err := <-s.letIn("tools", func(net.Listener) error { return nil }, nil); err != nil {
		t.Error(err)
	}
	select {
	case e := <-notices:
		t.Errorf("an orderly end is told of: %+v", e)
	default:
	}
}
