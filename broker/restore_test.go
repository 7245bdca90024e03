package broker

import (
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// leave makes a call wait and leaves it as a killed process would: withdrawn here,
// written down on the disk.
func (d *desk) leave(ticket, arguments string, values ...any) stored.WaitingCall {
	d.t.Helper()
	e, settled := d.ask("write_file", arguments, values...)
	d.files(1)
	item, _ := d.broker.approvals.Find(e.ID)
	item.Ticket = ticket
	item.Effect = d.session.previewer().Effect(d.t.Context(), preview.Call{Server: item.Server, Tool: item.Tool, Arguments: item.Arguments})
	d.broker.approvals.Withdraw(string(d.session.fixed.ID), "the test needs its file only")
	<-settled
	d.files(0)
	d.broker.keepWaiting(item)
	all, err := stored.ReadWaiting(d.session.layout)
	if err != nil || len(all) != 1 {
		d.t.Fatal(all, err)
	}
	return all[0]
}

// A call goes on only after its record is on the disk. So whichever record there
// is of it, it is not let wait again; it is, when there is none but a note.
func TestOnlyWhatWasNeverDecidedIsRestored(t *testing.T) {
	for name, c := range map[string]struct {
		record   audit.Record
		restored bool
	}{
		"no record":              {audit.Record{Decision: audit.Allow, Call: "another", EscalationID: "another"}, true},
		"a note":                 {audit.Record{Decision: audit.Noted, Call: "ticket"}, true},
		"approved":               {audit.Record{Decision: audit.EscalatedApproved, Call: "ticket", EscalationID: "E"}, false},
		"asked again, approved":  {audit.Record{Decision: audit.EscalatedApproved, Call: "ticket", EscalationID: "another"}, false},
		"taken over by a retry":  {audit.Record{Decision: audit.EscalatedApproved, Call: "another", EscalationID: "E"}, false},
		"let through by a rule":  {audit.Record{Decision: audit.Granted, Call: "ticket"}, false},
		"allowed by the policy":  {audit.Record{Decision: audit.Allow, Call: "ticket"}, false},
		"approved automatically": {audit.Record{Decision: audit.AutoApproved, Call: "ticket", EscalationID: "E"}, false},
		"denied":                 {audit.Record{Decision: audit.EscalatedDenied, Call: "ticket", EscalationID: "E"}, false},
		"failed":                 {audit.Record{Decision: audit.Failed, Call: "ticket"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			u := d.leave("ticket", writeCall, d.outside+"/a<b>&c.txt")
			if c.record.Plane = audit.PlaneTool; c.record.EscalationID == "E" {
				c.record.EscalationID = u.ID
			}
			if err := d.log.Append(t.Context(), c.record); err != nil {
				t.Fatal(err)
			}
			stack := &teardown{}
			if err := d.session.restoreWaiting(t.Context(), stack, d.log); err != nil {
				t.Fatal(err)
			}
			waits, err := d.broker.Pending(t.Context())
			if err != nil || (len(waits) == 1) != c.restored {
				t.Fatal(waits, err)
			}
			if c.restored {
				e := waits[0]
				if e.ID != u.ID || e.Digest != u.Digest || !e.Restored || !e.Unclaimed || e.Effect == nil || e.Effect.Changed ||
					!strings.Contains(string(e.Arguments), "a<b>&c.txt") {
					t.Errorf("%+v", e)
				}
				d.files(1)
			}
			if err := stack.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.files(0) // it has ended with its session
		})
	}
}

// What a restored call would do is part of its id: who has listed it before cannot
// approve another effect by it, and neither can who has seen another one of its effects.
func TestAChangedEffectHasAnIDOfItsOwn(t *testing.T) {
	d := newDesk(t)
	path := d.outside + "/a.txt"
	u := d.leave("ticket", writeCall, path)
	first := u
	for _, text := range []string{"another text", "a third one", "a third one"} { // as often restarted
		changed := !sameText(t, path, text)
		before := u
		f, err := d.session.former(t.Context(), &u)
		if err != nil || (f.ID != before.ID) != changed || f.Effect.Changed != changed {
			t.Fatal(f, err)
		}
		kept, err := stored.ReadWaiting(d.session.layout)
		if err != nil || len(kept) != 1 || kept[0].ID != f.ID || kept[0].Fingerprint != f.Fingerprint() {
			t.Fatal(kept, err)
		}
	}
	stack := &teardown{}
	if err := d.session.restoreWaiting(t.Context(), stack, d.log); err != nil {
		t.Fatal(err)
	}
	for _, stale := range []Decision{
		{ID: first.ID, Digest: u.Digest, Effect: u.Fingerprint, Approve: true},
		{ID: u.ID, Digest: u.Digest, Effect: first.Fingerprint, Approve: true},
		{ID: u.ID, Digest: u.Digest, Approve: true},
	} {
		if r, err := d.broker.Decide(t.Context(), stale); err == nil && r.Outcome == Approved {
			t.Errorf("%+v counts: %+v", stale, r)
		}
	}
	if r, err := d.broker.Decide(t.Context(), Decision{ID: u.ID, Digest: u.Digest, Effect: u.Fingerprint, Approve: true}); err != nil || !r.Won {
		t.Error(r, err)
	}
	if err := stack.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.files(0)
}

// sameText gives a file that text and tells whether it had it before.
func sameText(t *testing.T, path, text string) bool {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return string(before) == text
}

// An answer while no caller waits is recorded, or does not stand.
func TestAnswersWithoutACallerAreRecorded(t *testing.T) {
	for _, approve := range []bool{true, false} {
		d := newDesk(t)
		u := d.leave("ticket", writeCall, d.outside+"/a.txt")
		stack := &teardown{}
		if err := d.session.restoreWaiting(t.Context(), stack, d.log); err != nil {
			t.Fatal(err)
		}
		r, err := d.broker.Decide(t.Context(), Decision{ID: u.ID, Digest: u.Digest, Effect: u.Fingerprint, Approve: approve, By: "cli"})
		if err != nil || !r.Won || !r.Kept {
			t.Fatal(r, err)
		}
		d.files(0)
		if err := stack.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, err := audit.Last(d.session.layout.Audit(), 10, func(l audit.Line) bool { return l.EscalationID == u.ID })
		want := map[bool][]audit.Decision{true: {audit.Noted, audit.Noted}, false: {audit.EscalatedDenied}}[approve]
		if err != nil || len(lines) != len(want) {
			t.Fatal(lines, err)
		}
		for i, l := range lines {
			if l.Decision != want[i] || l.Call != "ticket" || l.DecidedBy != "cli" || l.Digest != u.Digest {
				t.Errorf("%+v", l)
			}
		}
	}
}

// A call with anything secret in it is written down masked. It could not be told
// from another one afterwards, so it cannot wait again.
func TestSecretCallsAreNotRestored(t *testing.T) {
	d := newDesk(t)
	u := d.leave("ticket", `{"path":%q,"content":"sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, d.outside+"/a.txt")
	data, err := os.ReadFile(d.session.layout.WaitingCall(u.ID))
	if err != nil || strings.Contains(string(data), "sk-ant-api03-aaaa") || u.Ticket != "" {
		t.Fatalf("%s %v", data, err)
	}
	stack := &teardown{}
	if err := d.session.restoreWaiting(t.Context(), stack, d.log); err != nil {
		t.Fatal(err)
	}
	if waits := d.broker.approvals.Pending(); len(waits) != 0 {
		t.Errorf("%+v", waits)
	}
	lines, err := audit.Last(d.session.layout.Audit(), 10, func(l audit.Line) bool { return l.EscalationID == u.ID })
	if err != nil || len(lines) != 1 || lines[0].Decision != audit.EscalatedWithdrawn {
		t.Error(lines, err)
	}
	if err := stack.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What waited in a session whose agent still runs is not settled by a start.
func TestASweepLeavesWhatMayWaitOn(t *testing.T) {
	d := newDesk(t)
	d.leave("ticket", writeCall, d.outside+"/a.txt")
	if err := d.log.Close(); err != nil { // as if this process were gone
		t.Fatal(err)
	}
	if err := d.broker.sweepWaiting(t.Context(), []SessionID{d.session.fixed.ID}); err != nil {
		t.Fatal(err)
	}
	d.files(1)
	if err := d.broker.sweepWaiting(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d.files(0)
}

// An approval that cannot be recorded does not stand.
func TestAnUnrecordedAnswerDoesNotStand(t *testing.T) {
	d := newDesk(t)
	u := d.leave("ticket", writeCall, d.outside+"/a.txt")
	stack := &teardown{}
	if err := d.session.restoreWaiting(t.Context(), stack, d.log); err != nil {
		t.Fatal(err)
	}
	if err := d.log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.broker.Decide(t.Context(), Decision{ID: u.ID, Digest: u.Digest, Effect: u.Fingerprint, Approve: true, By: "cli"}); err != nil {
		t.Fatal(err)
	}
	d.session.holding.Wait()
	done := make(chan approval.Resolution, 1)
	item, err := d.session.former(t.Context(), &u)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		r, err := d.broker.approvals.Ask(t.Context(), item)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	for len(d.broker.approvals.Pending()) == 0 { // it asks, although it was approved
		select {
		case r := <-done:
			t.Fatalf("let through: %+v", r)
		default:
		}
	}
	d.broker.approvals.Withdraw(string(d.session.fixed.ID), "enough")
	<-done
}
