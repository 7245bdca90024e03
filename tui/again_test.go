package tui

import (
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The person is told of a call that has expired until the next key, and its agent makes it again
// when they want it to. The words for that are not the person's.
func TestExpiredCallIsAskedForAgain(t *testing.T) {
	r := newHarness(t, 120, 24, demo())
	e := r.escalate(1, `{"path":"/tmp/b"}`, "")
	r.keys("\x01/history again\r")
	r.wants("no such call has expired")
	r.keys("\x15\x1b")
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: e.ID, Number: 1, Session: e.Session, Outcome: broker.Expired}}})
	r.now = r.now.Add(time.Hour)
	r.send(changedMsg{})
	r.wants("#1 expired", "/history again 1")
	for _, wrong := range []string{"again 2", "again x", "often"} {
		r.keys("\x01/history " + wrong + "\r\x15\x1b")
	}
	if n := len(r.broker.inputs); n != 0 {
		t.Fatalf("%d texts were sent", n)
	}
	r.keys("\x01/history again 1\r")
	if len(r.broker.inputs) != 1 || r.broker.inputs[0].Text != againText {
		t.Fatalf("sent %+v", r.broker.inputs)
	}
	for _, s := range r.broker.inputs[0].Spans {
		if !s.Pasted {
			t.Errorf("a part counts as %+v", s)
		}
	}
}
