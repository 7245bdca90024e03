package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
)

// Sessions and Follow let a notifier follow the queue.
func (q queued) Sessions(context.Context) ([]broker.Session, error) {
	return []broker.Session{{ID: "s", Tab: 1, Agent: "codex", State: broker.StateWaiting}}, nil
}

func (q queued) Follow(ctx context.Context) <-chan broker.Event {
	events := make(chan broker.Event)
	_, changes := q.queue.Subscribe(ctx)
	go func() {
		defer close(events)
		for c := range changes {
			e := broker.Event{}
			switch {
			case c.Asked != nil:
				e = broker.Event{Kind: broker.EventEscalation, Escalation: c.Asked}
			case c.Grown != nil:
				e = broker.Event{Kind: broker.EventEscalation, Escalation: c.Grown}
			case c.Settled != nil:
				e = broker.Event{Kind: broker.EventResolution, Resolution: &broker.Resolution{ID: c.Settled.ID}}
			}
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
	}()
	return events
}

// The person's command is run by the daemon: once for a call, without a view and with two, again
// when half of the call's time is over, and not after it was answered.
func TestOneCommandForAllViews(t *testing.T) {
	queue := approval.New(approval.Options{Timeout: time.Second, Away: time.Hour})
	queue.SetAway(true)
	out := filepath.Join(t.TempDir(), "out")
	s := startWith(t, until, queued{queue: queue}, func(d *Daemon) {
		attended := d.Attended
		d.Attended = func(yes bool) { queue.SetAway(!yes); attended(yes) }
		d.Notify = func(ctx context.Context, looked Looked, _ Muted) {
			(&notify.Notifier{
				Broker: queued{queue: queue}, Looked: looked, Muted: func(broker.SessionID) bool { return false }, Tell: func(text string) { t.Error(text) },
				Settings: func() (argv, on []string) {
					return []string{"sh", "-c", `echo "$IRONCURTAIN_EVENT $IRONCURTAIN_TITLE: $IRONCURTAIN_TEXT" >>` + out}, nil
				},
			}).Run(ctx)
		}
	})
	ask := func(id string) <-chan approval.Resolution {
		ended := make(chan approval.Resolution, 1)
		go func() {
			r, err := queue.Ask(t.Context(), approval.Escalation{ID: id, Session: "s", Server: "files", Tool: "save", Digest: "d"})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		return ended
	}
	// runs waits until the command has been run so often.
	runs := func(n int) string {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for time.Now().Before(deadline) {
			if data, _ := os.ReadFile(out); strings.Count(string(data), "\n") >= n {
				return string(data)
			}
			<-time.After(time.Millisecond)
		}
		t.Fatalf("the command was not run %d times", n)
		return ""
	}
	first := ask("a")
	runs(1) // nobody is there
	for range 2 {
		leave, wait := s.attach(terminal(t))
		defer wait()
		defer leave()
		<-s.shown
	}
	if r := <-first; r.Outcome != approval.Expired {
		t.Errorf("the first call: %+v", r)
	}
	runs(2)
	_, changes := queue.Subscribe(t.Context())
	second := ask("b")
	for c := range changes {
		if c.Asked != nil { // it waits
			break
		}
	}
	if _, won, err := queue.Decide("b", "d", true, "tui", ""); !won || err != nil || (<-second).Outcome != approval.Approved {
		t.Fatalf("the second call cannot be approved: %v", err)
	}
	<-ask("c")
	want := ""
	for _, text := range []string{"#1", "#1 still waits", "#2", "#3", "#3 still waits"} {
		want += fmt.Sprintf("escalation ironcurtain-mux codex s: approval %s: files/save\n", text)
	}
	if diff := cmp.Diff(want, runs(5)); diff != "" {
		t.Error(diff)
	}
}

// A tab is muted when it is in every view, and looked at where it is in front of a terminal that takes output and has the focus.
func TestTheTabThatIsLookedAtOrMuted(t *testing.T) {
	var looked Looked
	var muted Muted
	known := make(chan struct{})
	s := start(t, until, func(d *Daemon) {
		d.Notify = func(_ context.Context, l Looked, m Muted) { looked, muted = l, m; close(known) }
	})
	<-known
	if _, viewed := muted("s"); viewed {
		t.Error("without a view it is known what is muted")
	}
	leave, wait := s.attach(terminal(t))
	defer wait()
	defer leave()
	c := <-s.shown
	if yes, viewed := muted("s"); yes || !viewed {
		t.Error("it is muted without being asked for")
	}
	mutes := func(id broker.SessionID) bool { return id == "s" }
	c.Activity.Mutes.Store(&mutes)
	if yes, _ := muted("s"); !yes {
		t.Error("it is not muted")
	}
	front := "s"
	c.Activity.Front.Store(&front)
	if !looked("s") || looked("t") {
		t.Error("the tab in front is not looked at, or another one is")
	}
	c.Activity.Away.Store(true)
	if looked("s") {
		t.Error("it is looked at without the focus")
	}
	c.Activity.Away.Store(false)
	c.Stalled(true)
	if looked("s") {
		t.Error("it is looked at in a terminal that takes no output")
	}
	another, end := s.attach(terminal(t))
	defer end()
	defer another()
	<-s.shown
	if yes, viewed := muted("s"); yes || !viewed {
		t.Error("it is muted in one of two views only, and nobody is notified")
	}
}
