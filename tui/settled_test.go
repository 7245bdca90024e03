package tui

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// tell sends what the broker says of a call that the person has approved.
func (r *harness) tell(n int, state broker.EndState, reason string) {
	id := escalation(n, `{}`, "").ID
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: id, Number: n, Session: "s1", Outcome: broker.Approved, By: "tui", At: testTime}}})
	r.send(brokerMsg{broker.Event{Ending: &broker.Ending{ID: id, Number: n, Session: "s1", State: state, Reason: reason}}})
}

// An approval is not said to have worked before it has, and one that came to nothing is
// said with its reason, over the banner of the outage and until the next key.
func TestWhatBecameOfACallIsSaid(t *testing.T) {
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
		r.keys("x")
		r.tell(4, broker.EndDone, "")
		r.wants("#4 approved by you at 12:00:00: the call is done")
	}
}

// Calls that were decided together are said to be done when all of them are.
func TestWhatBecameOfABatchIsSaid(t *testing.T) {
	r := newHarness(t, 120, 24, demo())
	for n := 1; n <= 2; n++ {
		r.escalate(n, `{"path":"/tmp/a"}`, "")
	}
	r.keys("\x01")
	r.look()
	r.keys("\t")
	r.look()
	r.keys("/approve all\r")
	r.decided(2)
	r.tell(1, broker.EndDone, "")
	r.wants("#1 #2 approved by you", "under way")
	r.tell(2, broker.EndDone, "")
	r.wants("all 2 calls that you approved are done")
}

// That calls were denied together is said of all of them, also when each was told of
// before the answer to its decision.
func TestABatchThatWasDenied(t *testing.T) {
	r := newHarness(t, 120, 24, demo())
	for n := 1; n <= 2; n++ {
		r.escalate(n, `{"path":"/tmp/a"}`, "")
	}
	r.keys("\x01")
	r.look()
	r.keys("\t")
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
