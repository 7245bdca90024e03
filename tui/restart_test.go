package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// waitFor lets n calls wait in a session that runs already.
func (b *fakeBroker) waitFor(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = []broker.Session{{ID: "s1", Tab: 1, Agent: "shell", State: broker.StateWaiting}}
	for i := range n {
		b.pending = append(b.pending, escalation(i+1, fmt.Sprintf(`{"path":"/tmp/%d"}`, i+1), ""))
	}
}

// A user interface that is stopped before the person has decided decides nothing. The next
// one, in another terminal, shows every call that waits and can answer it.
func TestPendingSurvivesTheUserInterface(t *testing.T) {
	b := newFakeBroker()
	b.agent = func(x *fakeTerminal) { _, _ = x.agentW.Write([]byte("ready")) }
	b.waitFor(3)
	for round, typed := range []string{"", "\x01", "\x01/approve", "\x01/approve all", "\x01\t/deny 2"} {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			p := startMux(t, b, demo())
			p.sees("3 waiting")
			p.types(typed)
			if len(typed) > 1 {
				p.sees("> " + typed[slices.Index([]byte(typed), '/'):])
			}
			p.cancel() // it ends without input of the person
			<-p.done
			p.done <- nil
			if n := len(b.decisions()); n != 0 {
				t.Fatalf("%d decisions", n)
			}
		})
	}
	p := startMux(t, b, demo())
	p.sees("3 waiting")
	p.types("\x01")
	p.sees("approval 1/3", "/tmp/1")
	p.until("the call to be old enough", func() bool {
		p.types("\x15/approve\r")
		return len(b.decisions()) == 1
	})
	if d := b.decisions()[0]; d.ID != "e1" || !d.Approve {
		t.Fatalf("%+v", d)
	}
	p.types("\x01/quit!\r")
	p.leaves()
}

// BenchmarkEscalationShown measures from the broker's event to the tab's mark on
// the person's terminal:
//
//	go test -run '^$' -bench EscalationShown ./tui
func BenchmarkEscalationShown(b *testing.B) {
	times, _ := shown(b, max(2, b.N))
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
}

// The median time until a call that waits is on the screen is at most fifty milliseconds
// longer than that of a text that an agent writes.
func TestEscalationIsShownAtOnce(t *testing.T) {
	times, words := shown(t, 40)
	if p50, usual := times[len(times)/2], words[len(words)/2]; p50 > usual+50*time.Millisecond {
		t.Errorf("half of the calls were shown later than %v, half of an agent's texts after %v", p50, usual)
	}
}

// shown lets n calls wait, in turn with texts that the agent writes. It returns how long
// each took to be on the screen, in ascending order.
func shown(t testing.TB, n int) (calls, words []time.Duration) {
	t.Helper()
	b := newFakeBroker()
	say := make(chan string)
	b.agent = func(x *fakeTerminal) {
		for word := range say {
			_, _ = x.agentW.Write([]byte(word))
		}
	}
	p := startMux(t, b, demo())
	defer close(say)
	say <- "ready"
	p.sees("ready")
	for i := range n {
		begun := time.Now()
		word := fmt.Sprintf("\rword %d", i)
		say <- word
		p.sees(word[1:])
		words = append(words, time.Since(begun))

		e := escalation(i+1, `{"path":"/tmp/a"}`, "")
		begun = time.Now()
		b.events <- broker.Event{Escalation: &e}
		p.sees("1 waiting")
		calls = append(calls, time.Since(begun))
		b.events <- broker.Event{Resolution: &broker.Resolution{ID: e.ID, Number: e.Number, Outcome: broker.Expired}}
		p.until("it to go", func() bool { return !strings.Contains(p.text(), "1 waiting") })
	}
	slices.Sort(calls)
	slices.Sort(words)
	p.types("\x01/quit!\r")
	p.leaves()
	return calls, words
}
