package broker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// files waits until that many calls are written to disk as waiting.
func (d *desk) files(want int) {
	d.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.Tick(time.Millisecond); len(d.session.Files().WaitingCalls()) != want; <-tick {
		if time.Now().After(deadline) {
			d.t.Fatalf("%d calls are written down, want %d", len(d.session.Files().WaitingCalls()), want)
		}
	}
}

// A call is on disk while it waits, and no longer.
func TestWaitingCallsAreWrittenDown(t *testing.T) {
	d := newDesk(t)
	e, settled := d.ask("write_file", writeCall, d.outside+"/a.txt")
	d.ask("write_file", writeCall, d.outside+"/b.txt")
	d.files(2)
	if _, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest}); err != nil {
		t.Fatal(err)
	}
	<-settled
	d.files(1)
	d.broker.approvals.Withdraw(string(d.session.ID()), "the tab was closed")
	d.files(0)
}

// A call that can wait again stays on disk after its approval until it has ended, because its record
// may not be durable yet when the process is killed.
func TestAnApprovedCallStaysWrittenDown(t *testing.T) {
	d := newDesk(t)
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := func(has func(Event) bool) Event {
		t.Helper()
		for ev := range events {
			if has(ev) {
				return ev
			}
		}
		t.Fatal("the event does not come")
		return Event{}
	}
	for _, approve := range []bool{true, false} {
		answered := make(chan error, 1)
		go func() {
			_, err := d.broker.approvals.Ask(t.Context(), approval.Escalation{
				Session: string(d.session.ID()), Plane: audit.PlaneTool, Server: "filesystem", Tool: "write_file", Digest: "d", Ticket: "t",
			})
			answered <- err
		}()
		id := next(func(ev Event) bool { return ev.Escalation != nil }).Escalation.ID
		if _, err := d.broker.Decide(t.Context(), Decision{ID: id, Digest: "d", Approve: approve, By: "tui"}); err != nil {
			t.Fatal(err)
		}
		next(func(ev Event) bool { return ev.Resolution != nil })
		if n := len(d.session.Files().WaitingCalls()); (n == 1) != approve {
			t.Errorf("approved %v: %d calls are written down", approve, n)
		}
		d.broker.approvals.Ended(id, approval.EndDone, "")
		next(func(ev Event) bool { return ev.Ending != nil })
		if n := len(d.session.Files().WaitingCalls()); n != 0 {
			t.Errorf("approved %v: after its end %d calls are written down", approve, n)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// Calls that waited when the process was killed are recorded in the audit as withdrawn,
// once, and are not approved. A session that somebody owns is left alone.
func TestKilledCallsAreRecorded(t *testing.T) {
	d := newDesk(t)
	e, _ := d.ask("write_file", writeCall, d.outside+"/a.txt")
	d.files(1)
	kept, err := os.ReadFile(d.session.Files().WaitingCall(e.ID))
	if err != nil {
		t.Fatal(err)
	}
	d.broker.approvals.Withdraw(string(d.session.ID()), "the test needs its file only")
	d.files(0)
	if err := d.log.Close(); err != nil { // as if this process were gone
		t.Fatal(err)
	}
	if err := os.WriteFile(d.session.Files().WaitingCall(e.ID), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.session.Files().Waiting(), "half.json.new"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.broker.keepWaiting(approval.Escalation{
		ID: "a-request", Session: string(d.session.ID()), Plane: audit.PlaneHTTP, Server: "api.x.com", Tool: "POST /v1/x", Digest: "d", Ticket: "t",
	})
	for range 2 {
		if err := d.broker.sweepWaiting(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if lines, err := audit.Last(d.session.Files().Audit(), 10, func(l audit.Line) bool { return l.EscalationID == "a-request" }); err != nil ||
		len(lines) != 1 || lines[0].Plane != audit.PlaneHTTP || lines[0].Decision != audit.EscalatedWithdrawn || lines[0].Tool != "POST /v1/x" {
		t.Error(lines, err)
	}
	lines, err := audit.Last(d.session.Files().Audit(), 10, func(l audit.Line) bool { return l.Decision != audit.Noted && l.EscalationID == e.ID })
	if err != nil || len(lines) != 1 || lines[0].Decision != audit.EscalatedWithdrawn || lines[0].EscalationID != e.ID ||
		lines[0].Tool != "write_file" || lines[0].Digest != e.Digest || len(lines[0].Arguments) == 0 {
		t.Fatal(lines, err)
	}
	d.files(0)
	if _, err := audit.Verify(d.session.Files().Audit()); err != nil {
		t.Fatal(err)
	}
}

// A user interface that dies approves nothing, however often and whenever it dies. The
// next one finds every waiting call and can answer it.
func TestUserInterfaceDiesAndComesBack(t *testing.T) {
	d := newDesk(t)
	const deaths = 500
	var waiting []Escalation
	open := map[string]bool{}
	for n := range deaths {
		ui, die := context.WithCancel(t.Context())
		events, err := d.broker.Subscribe(ui)
		if err != nil {
			t.Fatal(err)
		}
		if n%5 == 0 {
			e, _ := d.ask("write_file", writeCall, filepath.Join(d.outside, fmt.Sprint(n)))
			waiting = append(waiting, e)
			open[e.ID] = true
		}
		listed, err := d.broker.Pending(ui)
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			die() // before it could do anything
		}
		if len(listed) != len(open) {
			t.Fatalf("the user interface after %d deaths finds %d calls, want %d", n, len(listed), len(open))
		}
		if n%7 == 0 && len(listed) > 0 {
			e := listed[0]
			if !open[e.ID] || e.Number != waiting[0].Number {
				t.Fatalf("#%d comes first, want #%d", e.Number, waiting[0].Number)
			}
			if r, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest, By: "tui"}); err != nil || !r.Won || r.Outcome != Denied {
				t.Fatal(r, err)
			}
			delete(open, e.ID)
			waiting = waiting[1:]
		}
		die()
		for range events { // it closes when the user interface is gone
		}
	}
	h, err := d.broker.Grants(t.Context())
	if err != nil || len(h) != 0 {
		t.Fatal(h, err)
	}
	for _, e := range waiting {
		if r, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest, Approve: true, By: "cli"}); err != nil || !r.Won {
			t.Fatal(r, err)
		}
	}
}

// User interfaces are told how a decided call ended.
func TestTheEndOfACallIsAnEvent(t *testing.T) {
	d := newDesk(t)
	e, settled := d.ask("write_file", writeCall, d.outside+"/a.txt")
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest, Approve: true}); err != nil {
		t.Fatal(err)
	}
	<-settled
	d.broker.approvals.Ended(e.ID, EndFailed, "the disk is full")
	for ev := range events {
		if ev.Ending == nil {
			continue
		}
		if ev.Ending.ID != e.ID || ev.Ending.State != EndFailed || ev.Ending.Reason != "the disk is full" {
			t.Errorf("%+v", ev.Ending)
		}
		return
	}
	t.Error("nobody is told what became of the call")
}

// A start does not withdraw the waiting calls of a session whose agent still runs, or is the
// built-in one, whose conversation can be resumed.
func TestASweepLeavesWhatMayWaitOn(t *testing.T) {
	d := newDesk(t)
	e, settled := d.ask("write_file", writeCall, d.outside+"/a.txt")
	d.files(1)
	item, _ := d.broker.approvals.Find(e.ID)
	item.Ticket = "ticket"
	d.broker.approvals.Withdraw(d.session.ID(), "the test needs its file only")
	<-settled
	d.files(0)
	d.broker.keepWaiting(item)
	if err := d.log.Close(); err != nil { // as if this process were gone
		t.Fatal(err)
	}
	if err := d.broker.sweepWaiting(t.Context(), []SessionID{d.session.ID()}); err != nil {
		t.Fatal(err)
	}
	d.files(1)
	record := fmt.Sprintf(`{"id":%q,"agent":"builtin"}`, d.session.ID())
	if err := os.WriteFile(d.session.Files().Record(), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.broker.sweepWaiting(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d.files(1)
	if err := os.Remove(d.session.Files().Record()); err != nil {
		t.Fatal(err)
	}
	if err := d.broker.sweepWaiting(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d.files(0)
}
