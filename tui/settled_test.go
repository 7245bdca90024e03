package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// tell sends the broker's events for a call that the person has approved and that ended.
func (r *harness) tell(n int, state broker.EndState, reason string) {
	id := escalation(n, `{}`, "").ID
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: id, Number: n, Session: "s1", Outcome: broker.Approved, By: "tui", At: testTime}}})
	r.send(brokerMsg{broker.Event{Ending: &broker.Ending{ID: id, Number: n, Session: "s1", State: state, Reason: reason}}})
}

// An approved call is not shown as done before it is. When it fails, the reason is shown
// until the next key, and replaces the notice of an outage.
func TestTheEndOfACallIsShown(t *testing.T) {
	outage := broker.Event{Notice: &broker.Notice{Session: "s1", Urgent: true, Text: "everything is refused until the audit can be written"}}
	for _, early := range []bool{false, true} { // before the answer to the decision, or after it
		r := newHarness(t, 120, 24, demo())
		r.escalate(1, `{"path":"/tmp/a"}`, "")
		r.keys("\x01")
		r.look()
		if early {
			r.broker.deciding = func() { r.tell(1, broker.EndRefused, "its record could not be written: no space\u202e left") }
		}
		r.keys("/approve\r")
		r.decided(1)
		if !early {
			r.wants("#1 approved by you", "under way")
			r.send(brokerMsg{outage})
			r.tell(1, broker.EndRefused, "its record could not be written: no space\u202e left")
		}
		r.wants("#1 approved by you at 12:00:00: the call was refused because its record could not be written", `no space\u{202e} left`)
		r.tell(2, broker.EndFailed, "the server died")
		r.tell(3, broker.EndDone, "")
		r.wants("could not be written", "#2 approved by you", "the call failed: the server died")
		for range 3 { // it was seen, and so was what has waited for it: the decision, and the outage
			r.now = r.now.Add(time.Second)
			r.keys("x")
			r.look()
		}
		r.tell(4, broker.EndDone, "")
		r.wants("#4 approved by you at 12:00:00: the call is done")
	}
}

// When a call has failed, nothing says any more that it is under way, and also not what has waited
// for the failure to be seen.
func TestACallThatFailedIsNotUnderWay(t *testing.T) {
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprint("with another one: ", together), func(t *testing.T) {
			r, all := newHarness(t, 120, 24, demo()), 1
			if together {
				all = 2
			}
			for n := 1; n <= all; n++ {
				r.escalate(n, `{"path":"/tmp/a"}`, "")
			}
			r.keys("\x01")
			r.look()
			r.keys("\t\t")
			r.look()
			r.keys("/approve all\r")
			r.decided(all)
			r.wants("approved by you", "under way")
			r.tell(1, broker.EndFailed, "the server died")
			for range 4 {
				r.wants("#1 approved by you at 12:00:00: the call failed: the server died")
				if strings.Contains(r.screen(), "under way") {
					t.Fatalf("it is under way:\n%s", r.screen())
				}
				r.now = r.now.Add(time.Second)
				r.state(1, broker.StateWorking) // something is drawn
			}
		})
	}
}

// Calls that were approved together are shown as done when all of them are.
func TestTheEndOfABatchIsShown(t *testing.T) {
	r := newHarness(t, 120, 24, demo())
	for n := 1; n <= 2; n++ {
		r.escalate(n, `{"path":"/tmp/a"}`, "")
	}
	r.keys("\x01")
	r.look()
	r.keys("\t\t")
	r.look()
	r.keys("/approve all\r")
	r.decided(2)
	r.tell(1, broker.EndDone, "")
	r.wants("#1 #2 approved by you", "under way")
	r.tell(2, broker.EndDone, "")
	r.wants("all 2 calls that you approved are done")
}

// The message about calls that were denied together names all of them, even when the
// broker's event for each comes before the answer to its decision.
func TestABatchThatWasDenied(t *testing.T) {
	r := newHarness(t, 120, 24, demo())
	for n := 1; n <= 2; n++ {
		r.escalate(n, `{"path":"/tmp/a"}`, "")
	}
	r.keys("\x01")
	r.look()
	r.keys("\t\t")
	r.look()
	n := 0
	r.broker.deciding = func() {
		n++
		e := broker.Ending{ID: escalation(n, `{}`, "").ID, Number: n, State: broker.EndRefused}
		r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: e.ID, Number: n, Outcome: broker.Denied, By: "tui", At: testTime}}})
		r.send(brokerMsg{broker.Event{Ending: &e}})
	}
	r.keys("/deny all\r")
	r.decided(2)
	r.wants("#1 #2 denied by you")
}
