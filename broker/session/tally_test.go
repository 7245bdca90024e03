package session

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

func TestStateFollowsWhatIsUnderWay(t *testing.T) {
	var tl tally
	for _, step := range []struct {
		name   string
		change func(*tally)
		want   stored.State
	}{
		{"new", func(*tally) {}, stored.StateStarting},
		{"running", func(t *tally) { t.running = true }, stored.StateStarting},
		{"connected", func(t *tally) { t.connected = true }, stored.StateIdle},
		{"model asked", func(t *tally) { t.requests++ }, stored.StateWorking},
		{"tool called", func(t *tally) { t.calls++ }, stored.StateWorking},
		{"call waits", func(t *tally) { t.waiting = 1 }, stored.StateWaiting},
		{"model answered", func(t *tally) { t.requests-- }, stored.StateWaiting},
		{"decided", func(t *tally) { t.waiting = 0 }, stored.StateWorking},
		{"answered", func(t *tally) { t.calls-- }, stored.StateIdle},
		{"task begun", func(t *tally) { t.turn = true }, stored.StateWorking},
		{"task done", func(t *tally) { t.turn = false }, stored.StateIdle},
		{"ended", func(t *tally) { t.dead = true }, stored.StateDead},
		{"closed", func(t *tally) { t.closed = true }, stored.StateClosed},
	} {
		before := tl.state()
		got, after := tl.update(step.change)
		if got != before || after != step.want {
			t.Errorf("%s: from %s to %s, want %s", step.name, got, after, step.want)
		}
	}
}
