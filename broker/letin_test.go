package broker

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// A tab that has lost a socket says so: its agent cannot tell that from a slow host.
func TestATabSaysWhenItsToolsAreGone(t *testing.T) {
	s, _, _ := askingSession(t)
	events := brokerOf(s).hub.subscribe(t.Context())
	broken := errors.New("the socket is gone")
	if err := <-s.letIn("tools", func(net.Listener) error { return broken }, nil); !errors.Is(err, broken) {
		t.Errorf("serving ended with %v", err)
	}
	e := <-events
	if e.Notice == nil || !e.Notice.Urgent || !strings.Contains(e.Notice.Text, "tools") || !strings.Contains(e.Notice.Text, "/restart") {
		t.Errorf("the person is told %+v", e.Notice)
	}
	if err := <-s.letIn("tools", func(net.Listener) error { return nil }, nil); err != nil {
		t.Error(err)
	}
	select {
	case e := <-events:
		t.Errorf("an orderly end is told of: %+v", e.Notice)
	default:
	}
}
