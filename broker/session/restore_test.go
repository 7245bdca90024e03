package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// waitedBefore is a session whose calls waited when its multiplexer was killed and whose
// agent still runs.
type waitedBefore struct {
	*Session
	t       *testing.T
	record  *audit.Log
	outside string
}

func newWaitedBefore(t *testing.T) *waitedBefore {
	t.Helper()
	root := stored.RealPath(t.TempDir())
	s, err := New(testDeps(t, Config{Home: filepath.Join(root, "home"), Agents: agent.Builtin(), DefaultAgent: "shell"}), Request{})
	if err != nil {
		t.Fatal(err)
	}
	f := &waitedBefore{Session: s, t: t, outside: filepath.Join(root, "outside")}
	if err := errors.Join(os.MkdirAll(f.outside, 0o700), os.MkdirAll(s.layout.Sandbox(), 0o700)); err != nil {
		t.Fatal(err)
	}
	compiled, annotations := policy.Default()
	engine, err := policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: s.layout.Sandbox(), Home: root})
	if err != nil {
		t.Fatal(err)
	}
	if f.record, err = audit.Open(s.layout.Audit(), audit.Options{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.record.Close() }) // some tests have closed it
	s.UsePolicy(engine, f.record)
	return f
}

// leave writes a waiting call to disk as a killed process leaves it.
func (f *waitedBefore) leave(arguments string, values ...any) stored.WaitingCall {
	f.t.Helper()
	v := f.engine.Evaluate(policy.Call{Server: "filesystem", Tool: "write_file", Arguments: fmt.Appendf(nil, arguments, values...)})
	if v.Decision != policy.Escalate {
		f.t.Fatalf("%s by %s", v.Decision, v.Rule)
	}
	id, err := approval.NewID()
	if err != nil {
		f.t.Fatal(err)
	}
	e := approval.Escalation{
		ID: id, Number: 1, AskedAt: time.Now(), Session: f.fixed.ID, Plane: audit.PlaneTool, Server: "filesystem", Tool: "write_file",
		Arguments: v.Arguments, Rule: v.Rule, Reason: v.Reason, Digest: v.Digest, Ticket: "ticket",
		Effect: f.previewer().Effect(f.t.Context(), policy.Call{Server: "filesystem", Tool: "write_file", Arguments: v.Arguments}),
	}
	if err := stored.WriteWaiting(f.layout, stored.WaitingCallOf(audit.NewRedactor(nil), e)); err != nil {
		f.t.Fatal(err)
	}
	all, err := stored.ReadWaiting(f.layout)
	if err != nil || len(all) != 1 {
		f.t.Fatal(all, err)
	}
	return all[0]
}

// restore restores the waiting calls and returns a function that ends them as the end of
// their session does.
func (f *waitedBefore) restore() (end func()) {
	f.t.Helper()
	stack := &teardown{}
	if err := f.restoreWaiting(f.t.Context(), stack, f.record); err != nil {
		f.t.Fatal(err)
	}
	return func() {
		f.t.Helper()
		if err := stack.run(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
		if waits := f.deps.Approvals.Pending(); len(waits) != 0 {
			f.t.Errorf("after the end of the session: %+v", waits)
		}
	}
}

// answer decides a call as a person does who has seen it.
func (f *waitedBefore) answer(u stored.WaitingCall, approve bool) approval.Resolution {
	f.t.Helper()
	r, won, err := f.deps.Approvals.Answer(u.ID, u.Digest, approval.Answer{Effect: u.Fingerprint, Approve: approve, By: "cli"})
	if err != nil || !won {
		f.t.Fatal(r, won, err)
	}
	return r
}

const writeFile = `{"path":%q,"content":"x"}`

// A call goes on only after its record is on the disk. So a call that has a record of a
// decision is not restored; a call that has none, or only a note, is.
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
			f := newWaitedBefore(t)
			u := f.leave(writeFile, f.outside+"/a<b>&c.txt")
			if c.record.Plane = audit.PlaneTool; c.record.EscalationID == "E" {
				c.record.EscalationID = u.ID
			}
			if err := f.record.Append(t.Context(), c.record); err != nil {
				t.Fatal(err)
			}
			end := f.restore()
			waits := f.deps.Approvals.Pending()
			if (len(waits) == 1) != c.restored {
				t.Fatal(waits)
			}
			if c.restored {
				e := waits[0]
				if e.ID != u.ID || e.Digest != u.Digest || !e.Restored || !e.Unclaimed || e.Effect == nil || e.Effect.Changed ||
					!strings.Contains(string(e.Arguments), "a<b>&c.txt") {
					t.Errorf("%+v", e)
				}
			}
			end()
		})
	}
}

// A restored call whose effect has changed gets a new id. So somebody who has listed the
// call with another effect cannot approve the new effect.
func TestAChangedEffectHasAnIDOfItsOwn(t *testing.T) {
	f := newWaitedBefore(t)
	path := f.outside + "/a.txt"
	u := f.leave(writeFile, path)
	first := u
	for _, text := range []string{"another text", "a third one", "a third one"} { // one restart for each
		changed := !sameText(t, path, text)
		before := u
		again, err := f.restoredItem(t.Context(), &u)
		if err != nil || (again.ID != before.ID) != changed || again.Effect.Changed != changed {
			t.Fatal(again, err)
		}
		kept, err := stored.ReadWaiting(f.layout)
		if err != nil || len(kept) != 1 || kept[0].ID != again.ID || kept[0].Fingerprint != again.Fingerprint() {
			t.Fatal(kept, err)
		}
	}
	end := f.restore()
	for _, stale := range []struct{ id, effect string }{{first.ID, u.Fingerprint}, {u.ID, first.Fingerprint}, {u.ID, ""}} {
		if r, _, err := f.deps.Approvals.Answer(stale.id, u.Digest, approval.Answer{Effect: stale.effect, Approve: true}); err == nil && r.Outcome == approval.Approved {
			t.Errorf("%+v counts: %+v", stale, r)
		}
	}
	f.answer(u, true)
	end()
}

// sameText reports whether a file has that text, and writes it to the file.
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

// An answer that is given while no caller waits is recorded.
func TestAnswersWithoutACallerAreRecorded(t *testing.T) {
	for _, approve := range []bool{true, false} {
		f := newWaitedBefore(t)
		u := f.leave(writeFile, f.outside+"/a.txt")
		end := f.restore()
		if r := f.answer(u, approve); !r.Kept {
			t.Fatal(r)
		}
		end()
		lines, err := audit.Last(f.layout.Audit(), 10, func(l audit.Line) bool { return l.EscalationID == u.ID })
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

// A call that contains a secret is written to disk masked. It could not be distinguished
// from another call afterwards, so it is not restored.
func TestSecretCallsAreNotRestored(t *testing.T) {
	f := newWaitedBefore(t)
	u := f.leave(`{"path":%q,"content":"sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, f.outside+"/a.txt")
	data, err := os.ReadFile(f.layout.WaitingCall(u.ID))
	if err != nil || strings.Contains(string(data), "sk-ant-api03-aaaa") || u.Ticket != "" {
		t.Fatalf("%s %v", data, err)
	}
	end := f.restore()
	if waits := f.deps.Approvals.Pending(); len(waits) != 0 {
		t.Errorf("%+v", waits)
	}
	lines, err := audit.Last(f.layout.Audit(), 10, func(l audit.Line) bool { return l.EscalationID == u.ID })
	if err != nil || len(lines) != 1 || lines[0].Decision != audit.EscalatedWithdrawn {
		t.Error(lines, err)
	}
	end()
}

// An approval that cannot be recorded does not count.
func TestAnUnrecordedAnswerDoesNotStand(t *testing.T) {
	f := newWaitedBefore(t)
	u := f.leave(writeFile, f.outside+"/a.txt")
	f.restore()
	if err := f.record.Close(); err != nil {
		t.Fatal(err)
	}
	f.answer(u, true)
	f.restoredCalls.Wait()
	done := make(chan approval.Resolution, 1)
	again, err := f.restoredItem(t.Context(), &u)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		r, err := f.deps.Approvals.Ask(t.Context(), again)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	for len(f.deps.Approvals.Pending()) == 0 { // it asks, although it was approved
		select {
		case r := <-done:
			t.Fatalf("let through: %+v", r)
		default:
		}
	}
	f.deps.Approvals.Withdraw(f.fixed.ID, "enough")
	<-done
}
