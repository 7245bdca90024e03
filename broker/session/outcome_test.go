package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// ending waits for the event that says how a call ended.
func ending(t *testing.T, told <-chan approval.Change) approval.Ending {
	t.Helper()
	for {
		select {
		case c := <-told:
			if c.Ended != nil {
				return *c.Ended
			}
		case <-time.After(time.Minute):
			t.Fatal("nobody is told what became of the call")
		}
	}
}

// How a model request ended that a person decided about is told when its record is
// written, or when the record could not be written.
func TestWhatBecameOfARequestIsTold(t *testing.T) {
	full := errors.New("no space left on device")
	for name, test := range map[string]struct {
		phase    mitm.Phase
		decision mitm.Decision
		deny     bool
		write    error
		state    approval.EndState
		reason   string
	}{
		"done":            {phase: mitm.PhaseResponse, decision: mitm.Allow, state: approval.EndDone},
		"broken off":      {phase: mitm.PhaseResponse, decision: "error", state: approval.EndFailed, reason: "detail"},
		"no record":       {phase: mitm.PhaseRequest, decision: mitm.Allow, write: full, state: approval.EndRefused, reason: "its record could not be written: no space left"},
		"refused anyway":  {phase: mitm.PhaseRequest, decision: mitm.Deny, state: approval.EndRefused, reason: "detail"},
		"denied":          {phase: mitm.PhaseRequest, decision: mitm.Deny, deny: true, state: approval.EndRefused},
		"denied, no room": {phase: mitm.PhaseRequest, decision: mitm.Deny, deny: true, write: full, state: approval.EndRefused, reason: "its record could not be written"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := askingSession(t)
			told := changes(t.Context(), s)
			asked := make(chan mitm.Ruling, 1)
			go func() {
				r, err := s.askRequest(context.Background(), mitm.Request{Host: "api.x.com", Method: "POST", Path: "/", Digest: "d"})
				if err != nil {
					t.Error(err)
				}
				asked <- r
			}()
			e := waiting(t, s)
			decideOn(t, s, e, !test.deny)
			ruling := <-asked
			record := mitm.Record{Phase: test.phase, Decision: test.decision, Detail: "detail", Ruling: &ruling}
			if err := s.reportOutcomes(func(mitm.Record) error { return test.write })(record); !errors.Is(err, test.write) {
				t.Error(err)
			}
			if got := ending(t, told); got.ID != e.ID || got.State != test.state || !strings.HasPrefix(got.Reason, test.reason) || got.Expected() != (test.deny && test.write == nil) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The same is told of an answer that no caller waited for, and of the question about a
// paused session.
func TestWhatBecameOfOtherAnswersIsTold(t *testing.T) {
	for _, broken := range []bool{false, true} {
		f := newWaitedBefore(t)
		u := f.leave(writeFile, f.outside+"/a.txt")
		end := f.restore()
		kept := changes(t.Context(), f.Session)
		want := approval.EndKept
		if broken {
			want = approval.EndRefused
			if err := f.record.Close(); err != nil {
				t.Fatal(err)
			}
		}
		f.answer(u, true)
		if got := ending(t, kept); got.ID != u.ID || got.State != want {
			t.Errorf("kept, broken %v: %+v", broken, got)
		}
		end()

		s, log, _ := askingSession(t)
		told := changes(t.Context(), s)
		p := pausedSession(t, s, log)
		e := waiting(t, s)
		if want = approval.EndDone; broken {
			want = approval.EndRefused
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
		decideOn(t, s, e, true)
		if got := ending(t, told); got.ID != e.ID || got.State != want {
			t.Errorf("paused, broken %v: %+v", broken, got)
		}
		settled(t, p)
	}
}

// pausedSession returns the pause of a session whose provider has sent a credential back.
func pausedSession(t *testing.T, s *Session, log *audit.Log) *pause {
	t.Helper()
	stack := &teardown{}
	p := newPause(t.Context(), s, stack, log)
	t.Cleanup(func() { _ = stack.run(context.Background()) })
	p.begin(mitm.Activity{Host: "api.x.com", Path: "/"})
	return p
}
