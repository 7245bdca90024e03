package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// A call from before a restart says so, and whether its agent waits for the answer. When
// that changes, a call that was seen in full still counts as such.
func TestRestoredCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := escalation(4, `{"path":"/tmp/b"}`, "")
	e.Restored, e.Unclaimed = true, true
	r.broker.pending = append(r.broker.pending, e)
	r.send(brokerMsg{broker.Event{Escalation: &e}})
	r.keys("\x01")
	r.look()
	r.wants("asked: before the restart", "has not asked again yet", "kept for 5 minutes")
	e.Unclaimed = false
	r.send(brokerMsg{broker.Event{Escalation: &e}})
	r.wants("before the restart", "its agent waits for the answer")
	r.look()
	r.keys("/approve\r")
	r.decided(1)
}

func TestResolutionTexts(t *testing.T) {
	for want, r := range map[string]broker.Resolution{
		"#1 was withdrawn by the agent":           {Number: 1, Outcome: broker.Withdrawn, By: "caller"},
		"#1 was withdrawn: its session has ended": {Number: 1, Outcome: broker.Withdrawn, By: "broker"},
		"#1 expired: nobody decided in time, so the call was refused; /history again 1 tells the agent to make it again": {Number: 1, Outcome: broker.Expired},
	} {
		if got := panel.ResolutionText(r, broker.Client{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := panel.ResolutionText(broker.Resolution{Number: 1, Outcome: broker.Approved, By: "tui", Kept: true, At: testTime}, broker.Client{}); got !=
		"#1 approved by you at "+testTime.Local().Format("15:04:05")+"; the answer is kept for 5 minutes, and counts once, for the same call" {
		t.Errorf("%q", got)
	}
}

// While a model judges a call, the panel says for how long. When the model leaves the call
// to the person, the panel says why.
func TestAutoApproverIsSeen(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := escalation(1, `{"path":"/tmp/b"}`, "")
	e.Auto = &broker.AutoReview{Receipt: 3, Since: r.now}
	r.broker.pending = append(r.broker.pending, e)
	r.send(brokerMsg{broker.Event{Escalation: &e}})
	r.keys("\x01")
	r.look()
	r.now = r.now.Add(4 * time.Second)
	r.send(brokerMsg{broker.Event{Escalation: &e}}) // the same again
	r.wants("auto-approver is judging 5s", "4:55 left")
	done := *e.Auto
	done.Reason = "the model did not confirm: \x1b[2Janother file"
	e.Auto = &done
	r.send(brokerMsg{broker.Event{Escalation: &e}})
	r.wants("auto-approver: leaves it to you; receipt 3: the model did not confirm: ", `\e[2J`)
	if strings.Contains(r.screen(), "judging") {
		t.Errorf("the panel still says that the model judges:\n%s", r.screen())
	}
	r.look()
	r.keys("/approve\r")
	r.decided(1)
}

// The history says what the agent was told, and that a call was asked before a
// restart.
func TestHistorySaysWhatTheAgentWasTold(t *testing.T) {
	d := broker.Decided{Decision: "escalated-denied", By: "tui", Server: "s", Tool: "t", Rule: "r", Reason: "not\nhere", Detail: map[string]any{"askedBeforeRestart": true}}
	if got, want := panel.DecidedText(d, broker.Client{}), `denied by you: s/t  (rule r); the agent was told: not\nhere; asked before the restart`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.Decision = "escalated-approved"
	if got := panel.DecidedText(d, broker.Client{}); strings.Contains(got, "told") {
		t.Errorf("%q", got)
	}
}

// PgUp goes back in a call that waits; without one it reads the scrollback.
func TestPageUpInThePanel(t *testing.T) {
	r := newHarness(t, 40, 10, demo())
	r.escalate(1, `{"path":"/tmp/b"}`, "")
	r.keys("\x01")
	r.look()
	r.keys("\x1b[6~")
	if r.m.approvals.Scroll == 0 {
		t.Fatalf("PgDn does not scroll:\n%s", r.screen())
	}
	r.keys("\x1b[5~")
	if r.m.approvals.Scroll != 0 || r.m.mode != modeCommand {
		t.Errorf("PgUp: row %d, mode %v", r.m.approvals.Scroll, r.m.mode)
	}
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Session: "s1", Outcome: broker.Expired}}})
	r.keys("\x1b[5~")
	if r.m.mode != modeCopy {
		t.Errorf("without a call: mode %v", r.m.mode)
	}
}
