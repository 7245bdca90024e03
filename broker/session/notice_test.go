package session

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
)

// What was said of a server that did not start is taken back when it runs, and said anew when it
// fails again, however soon.
func TestANoticeOfAServerIsTakenBack(t *testing.T) {
	s := stateSession(t)
	notices := eventsOf(s).notices
	failed := mcpproxy.Activity{Kind: mcpproxy.ServerFailed, Server: "board", Detail: "the server needs a login"}
	up := mcpproxy.Activity{Kind: mcpproxy.ServerUp, Server: "board"}
	s.toolActivity(up)
	s.toolActivity(failed)
	s.toolActivity(failed)
	s.toolActivity(up)
	s.toolActivity(up)
	s.toolActivity(failed)
	const text = "tool server board could not be started: the server needs a login"
	for i, want := range []Notice{{Urgent: true, Text: text}, {}, {Urgent: true, Text: text}} {
		want.Session, want.About = s.fixed.ID, "server board"
		if len(notices) == 0 {
			t.Fatalf("there are only %d notices", i)
		}
		if got := <-notices; got != want {
			t.Errorf("notice %d is %+v, want %+v", i, got, want)
		}
	}
	if len(notices) > 0 {
		t.Errorf("there is more: %+v", <-notices)
	}
}
