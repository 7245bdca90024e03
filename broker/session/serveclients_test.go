package session

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// A tab that has lost a socket says so, because for its agent the host only seems slow.
func TestATabSaysWhenItsToolsAreGone(t *testing.T) {
	s, _, _ := askingSession(t)
	notices := eventsOf(s).notices
	broken := errors.New("the socket is gone")
	if err := <-s.serveClients("tools", func(net.Listener) error { return broken }, nil); !errors.Is(err, broken) {
		t.Errorf("serving ended with %v", err)
	}
	e := <-notices
	if !e.Urgent || !strings.Contains(e.Text, "tools") || !strings.Contains(e.Text, "/restart") {
		t.Errorf("the person is told %+v", e)
	}
	if err := <-s.serveClients("tools", func(net.Listener) error { return nil }, nil); err != nil {
		t.Error(err)
	}
	select {
	case e := <-notices:
		t.Errorf("an orderly end is told of: %+v", e)
	default:
	}
}
