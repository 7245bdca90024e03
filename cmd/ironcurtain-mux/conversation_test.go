package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// taskStub answers tasks by calling a function.
type taskStub struct {
	taskHost
	turn func(task string) (broker.Turn, error)
}

func (taskStub) Budgets(context.Context) (broker.Budgets, error) { return broker.Budgets{}, nil }

func (s taskStub) Turn(_ context.Context, _ broker.SessionID, task string) (broker.Turn, error) {
	return s.turn(task)
}

// converse reads tasks from input, as a script gives them.
func converse(t *testing.T, input string, turn func(string) (broker.Turn, error)) *conversation {
	t.Helper()
	c := &conversation{
		broker: taskStub{turn: turn}, session: broker.Session{ID: "a"}, home: t.TempDir(), events: make(chan broker.Event),
		out: io.Discard, notes: io.Discard, waiting: map[int]broker.Escalation{},
	}
	c.lines, c.unread = readLines(t.Context(), strings.NewReader(input))
	if err := os.MkdirAll(filepath.Dir(c.auditPath()), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// A task that got no answer is not forgotten over those that did.
func TestTasksWithoutAnswerAreCounted(t *testing.T) {
	c := converse(t, "bad\ngood\n\n", func(task string) (broker.Turn, error) {
		if task == "bad" {
			return broker.Turn{Failure: "it stopped"}, nil
		}
		return broker.Turn{Text: "fine"}, nil
	})
	if err := c.run(t.Context(), ""); err == nil || err.Error() != "1 of 2 tasks got no answer" {
		t.Errorf("got %v", err)
	}
}

// Input that cannot be read to its end is an error, not the end of the tasks.
func TestALineThatIsTooLongIsAnError(t *testing.T) {
	c := converse(t, "good\n"+strings.Repeat("x", maxInput+1)+"\ngood\n", func(string) (broker.Turn, error) { return broker.Turn{}, nil })
	if err := c.run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// The outcome of a task names every call that was judged before it, also the last one.
func TestAnOutcomeHasAllItsCalls(t *testing.T) {
	for range 20 {
		var c *conversation
		c = converse(t, "", func(string) (broker.Turn, error) {
			record := `{"seq":1,"plane":"tool","decision":"deny","server":"git","tool":"git_push"}`
			return broker.Turn{Text: "done"}, os.WriteFile(c.auditPath(), []byte(record+"\n"), 0o600)
		})
		if err := c.run(t.Context(), "push"); err != nil || len(c.calls) != 1 || c.calls[0].Tool != "git_push" {
			t.Fatalf("%v, calls %+v", err, c.calls)
		}
	}
}

// A signal is told as one, also when the broker's events end first.
func TestASignalIsTheReasonForTheEnd(t *testing.T) {
	for range 20 {
		c := converse(t, "", nil)
		c.lines = nil
		events := make(chan broker.Event)
		c.events = events
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		close(events)
		if err := c.run(ctx, ""); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
}
