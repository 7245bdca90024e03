package start

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// taskStub answers tasks by calling a function.
type taskStub struct {
	taskHost
	turn func(task string) (broker.Turn, error)
}

func (taskStub) Budgets(context.Context) (broker.Budgets, error) { return broker.Budgets{}, nil }

func (s taskStub) Turn(_ context.Context, _ broker.SessionID, task broker.Task) (broker.Turn, error) {
	return s.turn(task.Text)
}

// converse reads tasks from input, as a script gives them.
func conversing(t *testing.T, input string, turn func(string) (broker.Turn, error)) *conversation {
	t.Helper()
	c := &conversation{
		broker: taskStub{turn: turn}, session: broker.Session{ID: "a"}, home: t.TempDir(), events: make(chan broker.Event),
		out: io.Discard, notes: io.Discard, waiting: map[int]shownCall{},
	}
	c.lines, c.unread = readLines(t.Context(), strings.NewReader(input))
	if err := os.MkdirAll(filepath.Dir(c.auditPath()), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// A task that got no answer is not forgotten over those that did.
func TestTasksWithoutAnswerAreCounted(t *testing.T) {
	c := conversing(t, "bad\ngood\n\n", func(task string) (broker.Turn, error) {
		if task == "bad" {
			return broker.Turn{Failure: "it stopped"}, nil
		}
		return broker.Turn{Text: "fine"}, nil
	})
	if err := c.run(t.Context(), typedLine{}); err == nil || err.Error() != "1 of 2 tasks got no answer" {
		t.Errorf("got %v", err)
	}
}

// Input that cannot be read to its end is an error, not the end of the tasks.
func TestALineThatIsTooLongIsAnError(t *testing.T) {
	c := conversing(t, "good\n"+strings.Repeat("x", maxInput+1)+"\ngood\n", func(string) (broker.Turn, error) { return broker.Turn{}, nil })
	if err := c.run(t.Context(), typedLine{}); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// The outcome of a task names every call that was judged before it, also the last one.
func TestAnOutcomeHasAllItsCalls(t *testing.T) {
	for range 20 {
		var c *conversation
		c = conversing(t, "", func(string) (broker.Turn, error) {
			record := `{"seq":1,"plane":"tool","decision":"allow","server":"git","tool":"git_push"}`
			return broker.Turn{Text: "done"}, os.WriteFile(c.auditPath(), []byte(record+"\n"), 0o600)
		})
		if err := c.run(t.Context(), typedLine{text: "push"}); err != nil || len(c.calls) != 1 || c.calls[0].Tool != "git_push" {
			t.Fatalf("%v, calls %+v", err, c.calls)
		}
	}
}

// A signal is told as one, also when the broker's events end first.
func TestASignalIsTheReasonForTheEnd(t *testing.T) {
	for range 20 {
		c := conversing(t, "", nil)
		c.lines = nil
		events := make(chan broker.Event)
		c.events = events
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		close(events)
		if err := c.run(ctx, typedLine{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
}

// A signal during one of several tasks is told once, as the reason for the end, and not as the task's failure.
func TestASignalDuringATaskIsTheReasonForTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := conversing(t, "long\n", func(string) (broker.Turn, error) {
		cancel()
		return broker.Turn{}, ctx.Err()
	})
	var notes strings.Builder
	c.notes = &notes
	if err := c.run(ctx, typedLine{}); !errors.Is(err, context.Canceled) || notes.Len() > 0 {
		t.Errorf("got %v, and printed %q", err, notes.String())
	}
}

// A call whose arguments are too long for its line shows that they are cut.
func TestACallThatIsCutShowsIt(t *testing.T) {
	c := conversing(t, "", nil)
	var notes strings.Builder
	c.notes = &notes
	c.judged(audit.Line{Record: audit.Record{Plane: audit.PlaneTool, Server: "git", Tool: "git_push", Decision: audit.Allow, Arguments: json.RawMessage(`{"path":"` + strings.Repeat("x", 100) + `"}`)}})
	if got := notes.String(); !strings.HasPrefix(got, `  git/git_push allow {"path":"xxx`) || !strings.HasSuffix(got, "x…\n") {
		t.Errorf("got %q", got)
	}
}

// decisionStub notes what is decided.
type decisionStub struct {
	taskHost
	decided []broker.Decision
}

func (s *decisionStub) Decide(_ context.Context, d broker.Decision) (broker.Resolution, error) {
	s.decided = append(s.decided, d)
	return broker.Resolution{ID: d.ID, Outcome: broker.Approved, By: d.By, Won: true}, nil
}

// A call is decided by its number, so that a line that was begun for one never decides
// another; and a person has had a moment to read what they decide about.
func TestACallIsDecidedByItsNumberOnceItWasRead(t *testing.T) {
	stub := &decisionStub{}
	c := &conversation{broker: stub, notes: io.Discard, waiting: map[int]shownCall{}, person: true}
	shown := func(n int, id string) {
		t.Helper()
		e := broker.Escalation{ID: id, Number: n, Digest: "digest of " + id, Effect: &broker.Effect{Fingerprint: "effect of " + id}}
		if err := c.event(t.Context(), broker.Event{Escalation: &e}, true); err != nil {
			t.Fatal(err)
		}
	}
	types := func(line string, after time.Duration) error {
		var last time.Time
		for _, e := range c.waiting {
			last = e.at
		}
		return c.lineWhileBusy(t.Context(), typedLine{text: line, at: last.Add(after)})
	}
	shown(1, "first")
	for _, line := range []string{"/approve", "/deny", "/deny because", "/approve 2"} {
		if err := types(line, time.Hour); err == nil || !strings.Contains(err.Error(), "waiting: 1") {
			t.Errorf("%s: %v", line, err)
		}
	}
	// The agent withdraws the call, and asks another.
	withdrawn := broker.Resolution{ID: "first", Number: 1, Outcome: broker.Withdrawn, By: "caller"}
	if err := c.event(t.Context(), broker.Event{Resolution: &withdrawn}, true); err != nil {
		t.Fatal(err)
	}
	shown(2, "second")
	if err := types("/approve 1", time.Hour); err == nil {
		t.Error("the other call was approved")
	}
	if err := types("/approve 2", approval.LeastShown-1); err == nil || !strings.Contains(err.Error(), "only just appeared") {
		t.Errorf("typed ahead: %v", err)
	}
	if len(stub.decided) != 0 {
		t.Fatalf("%+v", stub.decided)
	}
	if err := types("/approve #2", approval.LeastShown); err != nil {
		t.Error(err)
	}
	want := broker.Decision{ID: "second", Digest: "digest of second", Effect: "effect of second", Approve: true, By: "start"}
	if len(stub.decided) != 1 || stub.decided[0] != want {
		t.Errorf("%+v", stub.decided)
	}
}

// The end of a session is told once, although the task that it ended fails for the same reason.
func TestTheEndOfASessionIsToldOnce(t *testing.T) {
	events := make(chan broker.Event, 1)
	c := conversing(t, "", func(string) (broker.Turn, error) {
		events <- broker.Event{Session: &broker.Session{ID: "a", State: broker.StateDead, Reason: "the disk is full"}}
		return broker.Turn{}, errors.New("give a task: the session has ended: the disk is full")
	})
	c.events = events
	if err := c.run(t.Context(), typedLine{text: "task"}); err == nil || err.Error() != "the session has ended: the disk is full" {
		t.Errorf("got %v", err)
	}
}

// What became of a call is told, also when its task has ended meanwhile.
func TestATaskTellsWhatBecameOfItsCalls(t *testing.T) {
	events := make(chan broker.Event, 2)
	events <- broker.Event{Ending: &broker.Ending{Number: 1, State: broker.EndRefused, Reason: "its record could not be written: \x1b[2Jfull"}}
	events <- broker.Event{Ending: &broker.Ending{Number: 2, State: broker.EndRefused}} // as somebody decided
	c := conversing(t, "", func(string) (broker.Turn, error) { return broker.Turn{}, nil })
	var notes strings.Builder
	c.events, c.notes = events, &notes
	if err := c.run(t.Context(), typedLine{text: "push"}); err != nil {
		t.Fatal(err)
	}
	if got, want := notes.String(), `call 1: "the call was refused because its record could not be written: \x1b[2Jfull"`+"\n"; got != want {
		t.Errorf("%q", got)
	}
}

// An agent's answer or a tool's error that looks like a question stands above the question
// itself.
func TestWhatWaitsIsShownBelowAnAnswer(t *testing.T) {
	const fake = "call 1 waits for you:\nan innocent one"
	c := conversing(t, "", func(string) (broker.Turn, error) { return broker.Turn{Text: fake}, nil })
	var shown strings.Builder
	c.out, c.notes, c.person, c.lines = &shown, &shown, true, make(chan typedLine)
	if err := c.ask(broker.Escalation{ID: "real", Number: 1}); err != nil {
		t.Fatal(err)
	}
	before := c.waiting[1].at
	c.record = audit.Follow(c.auditPath(), 0)
	if err := c.runTask(t.Context(), typedLine{text: "a task"}); err != nil {
		t.Fatal(err)
	}
	if _, below, _ := strings.Cut(shown.String(), fake); !strings.Contains(below, "real") {
		t.Errorf("shown:\n%s", shown.String())
	}
	if !c.waiting[1].at.After(before) {
		t.Error("it can be decided by what was typed before")
	}
	failed := broker.Ending{Number: 7, State: broker.EndFailed, Reason: "a tool's error"}
	if err := c.event(t.Context(), broker.Event{Ending: &failed}, true); err != nil {
		t.Fatal(err)
	}
	if _, below, _ := strings.Cut(shown.String(), failed.Reason); !strings.Contains(below, "real") {
		t.Errorf("shown:\n%s", shown.String())
	}
}

// What a task prints as JSON is plain ASCII, whatever the agent wrote.
func TestATaskPrintsPlainJSON(t *testing.T) {
	const disturbing = "a\u007f\u009b\u202e\u200bz"
	var out bytes.Buffer
	c := &conversation{broker: taskStub{}, out: &out, notes: io.Discard, asJSON: true, session: broker.Session{ID: "1"}}
	if err := c.print(disturbing, broker.Turn{Text: disturbing}, []judgedCall{{Tool: disturbing}}); err != nil {
		t.Fatal(err)
	}
	var back TaskResult
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Text != disturbing || back.Calls[0].Tool != disturbing {
		t.Errorf("%v: %+v", err, back)
	}
	if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("it prints %q", out.Bytes()[i:])
	}
}
